/* getrusage(2) and perf_event_open(2). */
#define _GNU_SOURCE
#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct step_event step_hardware[EVENTS_LIMIT] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
};

/* Pinned: it counts all the time, or says that it does not. */
static int open_event(const struct step_event *event, int group)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = event->type;
    attributes.config = event->config;
    attributes.read_format = PERF_FORMAT_GROUP;
    attributes.pinned = group < 0;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static const char *reason(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return "counters are not permitted to this user (kernel.perf_event_paranoid)";
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
    case ENOSYS:
        return "this machine has no such counters, or its hypervisor does not pass them on";
    default:
        return "its counter can't be opened";
    }
}

bool step_counters_open(struct step_counters *counters, const struct step_event events[EVENTS_LIMIT], const char **why)
{
    bool opened = true;
    for (int i = 0; i < EVENTS_LIMIT; i++) {
        counters->files[i] = opened ? open_event(&events[i], i == 0 ? -1 : counters->files[0]) : -1;
        if (opened && counters->files[i] < 0) {
            *why = reason(errno);
            opened = false;
        }
    }
    if (!opened) {
        step_counters_close(counters);
    }
    return opened;
}

void step_counters_close(struct step_counters *counters)
{
    for (int i = 0; i < EVENTS_LIMIT; i++) {
        if (counters->files[i] >= 0) {
            close(counters->files[i]);
            counters->files[i] = -1;
        }
    }
}

void step_counters_read(const struct step_counters *counters, int64_t counted[EVENTS_LIMIT])
{
    struct {
        uint64_t count;
        uint64_t values[EVENTS_LIMIT];
    } got;
    const bool is_read =
        counters->files[0] >= 0 && read(counters->files[0], &got, sizeof got) == (ssize_t)sizeof got;
    for (int i = 0; i < EVENTS_LIMIT; i++) {
        counted[i] = is_read && got.values[i] <= INT64_MAX ? (int64_t)got.values[i] : INT64_MIN;
    }
}

void step_usage_read(struct step_usage *usage)
{
    *usage = (struct step_usage){INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
    struct rusage used;
    if (getrusage(RUSAGE_THREAD, &used) == 0) {
        *usage = (struct step_usage){used.ru_nvcsw, used.ru_nivcsw, used.ru_minflt, used.ru_majflt};
    }
}
