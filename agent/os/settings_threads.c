/* The threads of the whole system and the CPUs that they may use: /proc, sched_setaffinity(2). */
#define _GNU_SOURCE
#include "os/settings.h"

#include "fault_errno.h"
#include "format.h"
#include "os/posix/proc_stat.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { CPU_LIMIT = 4096 };
/* include/linux/sched.h; shown in /proc/PID/stat since 2.6 and unchanged since. */
static const uint64_t flag_no_set_affinity = 0x04000000;

/* What stands behind the key in `status`; sched_getaffinity(2) would leave out CPUs that are off line. */
static bool find_cpus(const struct text *status, char *list, size_t bytes)
{
    static const char key[] = "\nCpus_allowed_list:\t";
    const char *const at = strstr(text_string(status), key);
    if (at == NULL) {
        return false;
    }
    const size_t length = strcspn(at + sizeof key - 1, "\n");
    if (length == 0 || length >= bytes) {
        return false;
    }
    memcpy(list, at + sizeof key - 1, length);
    list[length] = '\0';
    return true;
}

static bool is_same(const struct os_thread_identity *identity, struct proc_stat *stat)
{
    return proc_stat_read(stat, (pid_t)identity->process, (pid_t)identity->thread) && !proc_stat_has_ended(stat) &&
           stat->start_ticks == identity->start;
}

enum os_fault os_thread_cpus_read(const struct os_thread_identity *identity, char *list, size_t bytes)
{
    char path[64];
    struct proc_stat stat;
    format_text(path, sizeof path, "/proc/%ld/task/%ld/status", (long)identity->process, (long)identity->thread);
    struct text status = {0};
    const bool read = os_file_read(path, &status) == FAULT_NONE && find_cpus(&status, list, bytes);
    text_free(&status);
    if (!is_same(identity, &stat)) {
        return FAULT_ESRCH; /* also where it ended meanwhile */
    }
    return read ? FAULT_NONE : FAULT_EIO;
}

static bool parse_list(const char *list, cpu_set_t *cpus, size_t bytes)
{
    memset(cpus, 0, bytes);
    for (const char *at = list; *at != '\0';) {
        char *end = NULL;
        const unsigned long first = strtoul(at, &end, 10);
        unsigned long last = first;
        if (end == at) {
            return false;
        }
        if (*end == '-') {
            at = end + 1;
            last = strtoul(at, &end, 10);
            if (end == at) {
                return false;
            }
        }
        if (last >= CPU_LIMIT || first > last || (*end != ',' && *end != '\0')) {
            return false;
        }
        for (unsigned long cpu = first; cpu <= last; cpu++) {
            CPU_SET_S(cpu, bytes, cpus);
        }
        at = *end == ',' ? end + 1 : end;
    }
    return true;
}

enum os_fault os_thread_cpus_write(const struct os_thread_identity *identity, const char *list)
{
    cpu_set_t cpus[CPU_LIMIT / CPU_SETSIZE];
    struct proc_stat stat;
    if (!parse_list(list, cpus, sizeof cpus)) {
        return FAULT_EINVAL;
    }
    if (!is_same(identity, &stat)) {
        return FAULT_ESRCH;
    }
    return sched_setaffinity((pid_t)identity->thread, sizeof cpus, cpus) == 0 ? FAULT_NONE : os_fault_from_errno(errno);
}

bool os_cpus_are_within(const char *list, const char *of)
{
    cpu_set_t cpus[CPU_LIMIT / CPU_SETSIZE];
    cpu_set_t others[CPU_LIMIT / CPU_SETSIZE];
    if (!parse_list(list, cpus, sizeof cpus) || !parse_list(of, others, sizeof others)) {
        return false;
    }
    CPU_AND_S(sizeof cpus, others, others, cpus);
    return CPU_EQUAL_S(sizeof cpus, cpus, others);
}

static void visit_process(long process, os_thread_visitor visit, void *argument)
{
    char path[64];
    char cpus[OS_CPU_LIST_BYTES];
    format_text(path, sizeof path, "/proc/%ld/task", process);
    DIR *const threads = opendir(path);
    if (threads == NULL) {
        return; /* it has just ended */
    }
    for (const struct dirent *entry = readdir(threads); entry != NULL; entry = readdir(threads)) {
        const long thread = strtol(entry->d_name, NULL, 10);
        struct proc_stat stat;
        if (thread <= 0 || !proc_stat_read(&stat, (pid_t)process, (pid_t)thread) ||
            (stat.flags & flag_no_set_affinity) != 0) {
            continue;
        }
        const struct os_thread_identity identity = {process, thread, stat.start_ticks};
        if (os_thread_cpus_read(&identity, cpus, sizeof cpus) == FAULT_NONE) {
            visit(argument, &identity, cpus);
        }
    }
    closedir(threads);
}

enum os_fault os_threads_visit(os_thread_visitor visit, void *argument)
{
    DIR *const processes = opendir("/proc");
    if (processes == NULL) {
        return os_fault_from_errno(errno);
    }
    for (const struct dirent *entry = readdir(processes); entry != NULL; entry = readdir(processes)) {
        const long process = strtol(entry->d_name, NULL, 10);
        if (process > 0) {
            visit_process(process, visit, argument);
        }
    }
    closedir(processes);
    return FAULT_NONE;
}

void os_boot_identity(char *identity, size_t bytes)
{
    struct text text = {0};
    identity[0] = '\0';
    if (os_file_read("/proc/sys/kernel/random/boot_id", &text) == FAULT_NONE) {
        const size_t length = strcspn(text_string(&text), "\n");
        if (length < bytes) {
            memcpy(identity, text.data, length);
            identity[length] = '\0';
        }
    }
    text_free(&text);
}
