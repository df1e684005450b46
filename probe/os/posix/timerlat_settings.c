/*
 * timerlat measures into an instance of the trace of its own (tracefs, `instances`), so that nobody else's trace is
 * touched. But its period and its CPUs are the system's, one for all (tracefs, `osnoise`). What they were before stands
 * in the instance's name, which is made before they are changed and removed after they are put back:
 *
 *     tauto-4711-88123:cpus=0-3:timerlat_period_us=1000
 *
 * by process 4711 that began at 88123. So a kill at any moment leaves all that the next one needs. Instance and settings
 * end with the running system, both.
 */
#include "timerlat_settings.h"

#include "os/settings.h"
#include "tracefs.h"

#include "format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "status.h"

enum { VALUE_BYTES = 160, PATH_BYTES = 128 };

static const char prefix[] = "tauto-";
static const char instances[] = "instances";

/* Adds ":NAME=VALUE" to the instance's name where the setting has another value than it shall have. */
static enum os_status note(int tracing, char instance[INSTANCE_BYTES], const char *name, const char *wanted)
{
    char path[PATH_BYTES];
    char value[VALUE_BYTES];
    format_text(path, sizeof path, "osnoise/%s", name);
    const enum os_status status = tracefs_read(tracing, path, value, sizeof value);
    const size_t length = strlen(instance);
    if (status != OS_OK || strcmp(value, wanted) == 0) {
        return status;
    }
    return format_text(instance + length, INSTANCE_BYTES - length, ":%s=%s", name, value) < INSTANCE_BYTES - length
               ? OS_OK
               : OS_INVALID;
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

enum os_status timerlat_settings_put_back(int tracing, const char *instance)
{
    char path[INSTANCE_BYTES];
    format_text(path, sizeof path, "%s/current_tracer", instance);
    tracefs_write(tracing, path, "nop");
    const enum os_status status = restore(tracing, instance);
    if (unlinkat(tracing, instance, AT_REMOVEDIR) != 0) {
        return os_status_from_errno(errno);
    }
    return status;
}

struct clean_up {
    int tracing;
    uint32_t count;
};

static void clean_up_one(void *argument, const char *name)
{
    struct clean_up *const all = argument;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) {
        return;
    }
    char *rest = NULL;
    const int64_t process = strtoll(name + sizeof prefix - 1, &rest, 10);
    const uint64_t began = *rest == '-' ? strtoull(rest + 1, NULL, 10) : 0;
    uint64_t start = 0;
    if (os_task_start(process, &start, NULL) && start == began) {
        return; /* it lives */
    }
    char instance[INSTANCE_BYTES];
    if (format_text(instance, sizeof instance, "%s/%s", instances, name) < sizeof instance &&
        timerlat_settings_put_back(all->tracing, instance) == OS_OK) {
        all->count++;
    }
}

uint32_t timerlat_settings_clean_up(int tracing)
{
    struct clean_up all = {.tracing = tracing};
    tracefs_names(tracing, instances, clean_up_one, &all);
    return all.count;
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
    char path[INSTANCE_BYTES];
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
    const size_t length = strlen(instance);
    *set_it = tracefs_read(tracing, "osnoise/options", options, sizeof options) == OS_OK &&
              tracefs_has_word(options, "NO_OSNOISE_WORKLOAD");
    if (!*set_it) {
        return OS_OK;
    }
    return format_text(instance + length, INSTANCE_BYTES - length, ":options=NO_OSNOISE_WORKLOAD") < INSTANCE_BYTES - length
               ? OS_OK
               : OS_INVALID;
}

struct wanted {
    const char *name;
    const char *value;
};

static enum os_status make(int tracing, const struct wanted *wanted, size_t count, char instance[INSTANCE_BYTES])
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
    if (set_workload) {
        status = set(tracing, "options", "OSNOISE_WORKLOAD");
    }
    for (size_t i = 0; i < count && status == OS_OK; i++) {
        status = set(tracing, wanted[i].name, wanted[i].value);
    }
    if (status != OS_OK) {
        timerlat_settings_put_back(tracing, instance);
    }
    return status;
}

enum os_status timerlat_settings_make(int tracing, const int32_t *cpus, uint32_t count, int64_t period_us,
                                      char instance[INSTANCE_BYTES])
{
    char period[24];
    char list[VALUE_BYTES] = "";
    size_t filled = 0;
    format_text(period, sizeof period, "%" PRId64, period_us);
    for (uint32_t i = 0; i < count; i++) {
        filled += format_text(list + filled, sizeof list - filled, "%s%" PRId32, i == 0 ? "" : ",", cpus[i]);
        if (filled >= sizeof list) {
            return OS_INVALID;
        }
    }
    const struct wanted wanted[] = {
        {"cpus", list},
        {"timerlat_period_us", period},
        {"stop_tracing_us", "0"},
        {"stop_tracing_total_us", "0"},
        {"print_stack", "0"},
    };
    return make(tracing, wanted, sizeof wanted / sizeof wanted[0], instance);
}
