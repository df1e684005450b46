/*
 * timerlat measures into an instance of the trace of its own (tracefs, `instances`), so that nobody else's trace is
 * touched. But its period and its CPUs are the system's, one for all (tracefs, `osnoise`). What they were before stands
 * in the instance's name, which is made before they are changed and removed after they are put back:
 *
 *     tauto-4711-88123:cpus=0-3:timerlat_period_us=1000
 *
 * by process 4711 that began at 88123. So a kill at any moment leaves all that the next one needs. Instance and settings
 * end with the running system, both.
 *
 * Who measures has the instance's folder locked (flock(2)), for another PID namespace has other numbers for its process;
 * who makes, puts back or looks for what others have left has the folder of all instances locked meanwhile.
 */
#include "timerlat_settings.h"

#include "os/tasks.h"
#include "tracefs.h"

#include "format.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "status.h"

enum { VALUE_BYTES = 4096, PATH_BYTES = 128 };

static const char prefix[] = "tauto-";
static const char instances[] = "instances";

/* Adds ":NAME=VALUE". OS_NO_SPACE: a name can't be so long. */
static enum os_status add(char instance[INSTANCE_BYTES], const char *name, const char *value)
{
    const size_t length = strlen(instance);
    const size_t left = INSTANCE_BYTES - length;
    return format_text(instance + length, left, ":%s=%s", name, value) < left ? OS_OK : OS_NO_SPACE;
}

/* Where the setting has another value than it shall have. */
static enum os_status note(int tracing, char instance[INSTANCE_BYTES], const char *name, const char *wanted)
{
    char path[PATH_BYTES];
    char value[VALUE_BYTES]; /* one that fills it fits in no name */
    format_text(path, sizeof path, "osnoise/%s", name);
    const enum os_status status = tracefs_read(tracing, path, value, sizeof value);
    return status != OS_OK || strcmp(value, wanted) == 0 ? status : add(instance, name, value);
}

static enum os_status set(int tracing, const char *name, const char *value)
{
    char path[PATH_BYTES];
    format_text(path, sizeof path, "osnoise/%s", name);
    return tracefs_write(tracing, path, value);
}

/* The settings in the instance's name, written back. */
static enum os_status restore(int tracing, const char *instance)
{
    char copy[INSTANCE_BYTES];
    format_text(copy, sizeof copy, "%s", instance);
    enum os_status worst = OS_OK;
    char *at = strchr(copy, ':');
    while (at != NULL) {
        char *const name = at + 1;
        at = strchr(name, ':');
        if (at != NULL) {
            *at = '\0';
        }
        char *const value = strchr(name, '=');
        if (value != NULL) {
            *value = '\0';
            const enum os_status status = set(tracing, name, value + 1);
            worst = status == OS_OK ? worst : status;
        }
    }
    return worst;
}

/* A folder of the trace; -1: it is not there, or `how` says not to wait and another has it. */
static int open_locked(int tracing, const char *path, int how)
{
    const int folder = openat(tracing, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int locked = folder >= 0 ? flock(folder, how) : 0;
    while (locked != 0 && errno == EINTR) {
        locked = flock(folder, how); /* also when it is to end: who waits here waits for a few files to be written */
    }
    if (locked != 0) {
        const int error = errno;
        close(folder);
        errno = error;
        return -1;
    }
    return folder;
}

static void unlock(int folder)
{
    if (folder >= 0) {
        close(folder);
    }
}

static enum os_status put_back(int tracing, const char *instance)
{
    char path[INSTANCE_BYTES + PATH_BYTES];
    format_text(path, sizeof path, "%s/current_tracer", instance);
    tracefs_write(tracing, path, "nop");
    const enum os_status status = restore(tracing, instance);
    if (status != OS_OK) {
        return status; /* what its name holds is needed by the next one that tries */
    }
    return unlinkat(tracing, instance, AT_REMOVEDIR) == 0 ? OS_OK : os_status_from_errno(errno);
}

enum os_status timerlat_settings_put_back(int tracing, const char *instance, int lock)
{
    const int all = open_locked(tracing, instances, LOCK_EX);
    const enum os_status status = put_back(tracing, instance);
    unlock(lock);
    unlock(all);
    return status;
}

struct clean_up {
    int tracing;
    uint32_t count;
};

static void clean_up_one(void *argument, const char *name)
{
    struct clean_up *const all = argument;
    char instance[INSTANCE_BYTES];
    if (strncmp(name, prefix, sizeof prefix - 1) != 0 ||
        format_text(instance, sizeof instance, "%s/%s", instances, name) >= sizeof instance) {
        return;
    }
    const int lock = open_locked(all->tracing, instance, LOCK_EX | LOCK_NB);
    if (lock >= 0) { /* nobody measures there */
        all->count += put_back(all->tracing, instance) == OS_OK ? 1 : 0;
        unlock(lock);
    }
}

uint32_t timerlat_settings_clean_up(int tracing)
{
    struct clean_up found = {.tracing = tracing};
    const int all = open_locked(tracing, instances, LOCK_EX);
    tracefs_names(tracing, instances, clean_up_one, &found);
    unlock(all);
    return found.count;
}

struct search {
    int tracing;
    bool found;
};

static bool measures(int tracing, const char *tracer_file)
{
    char tracer[VALUE_BYTES];
    return tracefs_read(tracing, tracer_file, tracer, sizeof tracer) == OS_OK &&
           (strcmp(tracer, "timerlat") == 0 || strcmp(tracer, "osnoise") == 0);
}

static void look_at_instance(void *argument, const char *name)
{
    struct search *const search = argument;
    char path[INSTANCE_BYTES + PATH_BYTES];
    format_text(path, sizeof path, "%s/%s/current_tracer", instances, name);
    search->found |= measures(search->tracing, path);
}

bool timerlat_in_use(int tracing)
{
    struct search search = {.tracing = tracing, .found = measures(tracing, "current_tracer")};
    tracefs_names(tracing, instances, look_at_instance, &search);
    return search.found;
}

/* Kernels before 6.2 may not have the options; what they would be is then so. */
static enum os_status want_workload(int tracing, char *instance, bool *set_it)
{
    char options[VALUE_BYTES];
    *set_it = tracefs_read(tracing, "osnoise/options", options, sizeof options) == OS_OK &&
              tracefs_has_word(options, "NO_OSNOISE_WORKLOAD");
    return *set_it ? add(instance, "options", "NO_OSNOISE_WORKLOAD") : OS_OK;
}

struct wanted {
    const char *name;
    const char *value;
};

static enum os_status write_all(int tracing, const struct wanted *wanted, size_t count, bool set_workload)
{
    enum os_status status = set_workload ? set(tracing, "options", "OSNOISE_WORKLOAD") : OS_OK;
    for (size_t i = 0; i < count && status == OS_OK; i++) {
        status = set(tracing, wanted[i].name, wanted[i].value);
    }
    return status;
}

static enum os_status make(int tracing, const struct wanted *wanted, size_t count, char instance[INSTANCE_BYTES],
                           int *lock)
{
    uint64_t start = 0;
    os_task_start(os_own_process(), &start, NULL);
    format_text(instance, INSTANCE_BYTES, "%s/%s%" PRId64 "-%" PRIu64, instances, prefix, os_own_process(), start);
    bool set_workload = false;
    enum os_status status = want_workload(tracing, instance, &set_workload);
    for (size_t i = 0; i < count && status == OS_OK; i++) {
        status = note(tracing, instance, wanted[i].name, wanted[i].value);
    }
    if (status != OS_OK) {
        return status;
    }
    if (mkdirat(tracing, instance, S_IRWXU) != 0) {
        return os_status_from_errno(errno);
    }
    *lock = open_locked(tracing, instance, LOCK_EX | LOCK_NB);
    status = *lock < 0 ? os_status_from_errno(errno) : write_all(tracing, wanted, count, set_workload);
    if (status != OS_OK) {
        put_back(tracing, instance);
        unlock(*lock);
    }
    return status;
}

static bool is_among(const int32_t *cpus, uint32_t count, int32_t cpu)
{
    for (uint32_t i = 0; i < count; i++) {
        if (cpus[i] == cpu) {
            return true;
        }
    }
    return false;
}

/* "0-63,128": as short as it goes, for there are kernels that take at most 255 characters. */
static void write_list(struct text *list, const int32_t *cpus, uint32_t count)
{
    uint32_t seen = 0; /* they are all different */
    for (int32_t cpu = 0; seen < count; cpu++) {
        const int32_t first = cpu;
        for (; is_among(cpus, count, cpu); cpu++) {
            seen++;
        }
        if (cpu > first) {
            text_format(list, "%s%d", list->length > 0 ? "," : "", first);
        }
        if (cpu > first + 1) {
            text_format(list, "-%d", cpu - 1);
        }
    }
}

enum os_status timerlat_settings_make(int tracing, const int32_t *cpus, uint32_t count, int64_t period_us,
                                      char instance[INSTANCE_BYTES], int *lock)
{
    char period[24];
    struct text list = {0};
    format_text(period, sizeof period, "%" PRId64, period_us);
    write_list(&list, cpus, count);
    const struct wanted wanted[] = {
        {"cpus", text_string(&list)},
        {"timerlat_period_us", period},
        {"stop_tracing_us", "0"},
        {"stop_tracing_total_us", "0"},
        {"print_stack", "0"},
    };
    enum os_status status = list.out_of_memory ? OS_NO_MEMORY : OS_OK;
    if (status == OS_OK) {
        const int all = open_locked(tracing, instances, LOCK_EX);
        status = make(tracing, wanted, sizeof wanted / sizeof wanted[0], instance, lock);
        unlock(all);
    }
    text_free(&list);
    return status;
}
