/*
 * Late cycles by perf_event_open(2): trace events of each measured CPU into a ring of that CPU, of which nobody is told and
 * which ends with the process. An instance of tracefs would do the same, but stays behind when the process is killed.
 */
#define _GNU_SOURCE /* syscall */
#include "late_perf_ring.h"
#include "late_recorder.h"
#include "status.h"

#include "format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* From linux/perf_event.h, which not every C library brings along. */
enum { PERF_TYPE_TRACEPOINT = 2, PERF_FLAG_FD_CLOEXEC = 8 };
enum { SAMPLE_TIME = 1 << 2, SAMPLE_RAW = 1 << 10, SAMPLE_IDENTIFIER = 1 << 16 };
enum {
    IOC_ENABLE = (int)_IO('$', 0),
    IOC_DISABLE = (int)_IO('$', 1),
    IOC_SET_OUTPUT = (int)_IO('$', 5),
    IOC_SET_FILTER = (int)_IOW('$', 6, char *),
    IOC_ID = (int)_IOR('$', 7, uint64_t *),
};

/* perf_event_attr as of Linux 4.8, of 112 bytes. */
struct perf_attributes {
    uint32_t type;
    uint32_t size;
    uint64_t event;
    uint64_t period;
    uint64_t sample_type;
    uint64_t read_format;
    uint32_t disabled : 1;
    uint32_t between_1 : 13;
    uint32_t watermark : 1;
    uint32_t between_2 : 10;
    uint32_t use_clockid : 1;
    uint32_t between_3 : 1;
    uint32_t write_backward : 1;
    uint32_t between_4 : 4;
    uint32_t more_flags;
    uint32_t wakeup_watermark;
    uint32_t breakpoint;
    uint64_t unused[4];
    uint32_t user_stack;
    int32_t clockid;
    uint64_t interrupt_registers;
    uint32_t other_watermark;
    uint32_t deepest_stack;
};
_Static_assert(sizeof(struct perf_attributes) == 112, "PERF_ATTR_SIZE_VER5");

enum { LEAST_RING_BYTES = 64 * 1024, FILTER_BYTES = 32 };

struct perf {
    struct late_layout layouts[LATE_LAYOUTS_LIMIT];
    uint32_t layout_count;
    struct late_view view;
    uint32_t count;
    struct late_ring rings[];
};

static struct os_answer absent(const char *why)
{
    return (struct os_answer){OS_ABSENT, why};
}

static struct os_answer why_not(enum os_status status)
{
    switch (status) {
    case OS_NOT_PERMITTED:
        return (struct os_answer){
            OS_DENIED, "this user may not record the kernel's events. Run as root; or let root mount tracefs for your group "
                       "(mount -t tracefs -o gid=GROUP,mode=750 tracefs /sys/kernel/tracing) and give tauto-probe the "
                       "capability CAP_PERFMON (Linux 5.8 and later). Where root is refused, a container (seccomp, no "
                       "CAP_SYS_ADMIN) or a locked down kernel (/sys/kernel/security/lockdown) is in the way"};
    case OS_UNSUPPORTED:
    case OS_NOT_FOUND:
        return absent("this kernel has no trace events of its scheduler, or no perf events. It needs CONFIG_EVENT_TRACING "
                      "and CONFIG_PERF_EVENTS");
    case OS_INVALID:
        return absent("this kernel's perf events can't write over the oldest. It needs Linux 4.8 or later");
    case OS_NO_MEMORY:
        return absent("there is not enough memory, or too few file descriptors (ulimit -n), to record the events of all "
                      "measured CPUs");
    default:
        return absent(os_status_text(status));
    }
}

/* One for each event and CPU. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* raising it so far is always permitted */
    }
}

static int open_event(const struct late_layout *layout, int32_t cpu, int leader, size_t ring_bytes)
{
    const struct perf_attributes attributes = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof attributes,
        .event = layout->number,
        .period = 1,
        .sample_type = (uint64_t)SAMPLE_IDENTIFIER | SAMPLE_TIME | SAMPLE_RAW,
        .disabled = leader < 0,
        .watermark = 1, /* somebody would be woken once the ring is written from end to end: nobody waits */
        .wakeup_watermark = (uint32_t)ring_bytes,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC, /* the clock of os_now_ns() */
        .write_backward = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, leader, (unsigned long)PERF_FLAG_FD_CLOEXEC);
}

/* An event of that ring; -1 with errno set. Other threads have faults by the thousand when they begin, and nobody is late
 * by these but they themselves. A CPU may set the frequency of others, too. */
static int open_filtered(const struct late_layout *layout, int32_t cpu, int leader, size_t ring_bytes)
{
    const int event = open_event(layout, cpu, leader, ring_bytes);
    const bool of_cpu = layout->kind == OS_LATE_FREQUENCY;
    char filter[FILTER_BYTES] = "COMM ~ \"" OS_LATE_OWN_THREADS "*\"";
    if (of_cpu) {
        format_text(filter, sizeof filter, "cpu_id == %d", (int)cpu);
    }
    if (event >= 0 && (of_cpu || layout->kind == OS_LATE_FAULT) && ioctl(event, IOC_SET_FILTER, filter) != 0) {
        close(event);
        errno = EINVAL;
        return -1;
    }
    return event;
}

static enum os_status open_ring(struct perf *perf, struct late_ring *ring, int32_t cpu, size_t bytes)
{
    *ring = (struct late_ring){.cpu = cpu, .bytes = bytes};
    for (uint32_t i = 0; i < perf->layout_count; i++) {
        const int leader = i > 0 ? ring->events[0] : -1;
        const int event = open_filtered(&perf->layouts[i], cpu, leader, bytes);
        const enum os_status status = os_status_from_errno(event < 0 ? errno : 0);
        ring->events[ring->count++] = event;
        if (i > 0 && (status == OS_NOT_PERMITTED || status == OS_INVALID)) {
            continue; /* the kernel keeps some events from perf */
        }
        if (status != OS_OK) {
            return status;
        }
        if (ioctl(event, IOC_ID, &ring->numbers[i]) != 0) {
            return os_status_from_errno(errno);
        }
        if (i == 0) {
            void *const pages =
                mmap(NULL, bytes + getauxval(AT_PAGESZ), PROT_READ, MAP_SHARED, event, 0); /* no tail is kept */
            if (pages == MAP_FAILED) {
                return errno == EPERM ? OS_NO_MEMORY : os_status_from_errno(errno);
            }
            ring->pages = pages;
        } else if (ioctl(event, IOC_SET_OUTPUT, leader) != 0) {
            return os_status_from_errno(errno);
        }
    }
    return OS_OK;
}

static void close_rings(struct perf *perf)
{
    for (uint32_t i = 0; i < perf->count; i++) {
        struct late_ring *const ring = &perf->rings[i];
        if (ring->pages != NULL) {
            munmap(ring->pages, ring->bytes + getauxval(AT_PAGESZ));
        }
        for (uint32_t k = ring->count; k > 0; k--) {
            if (ring->events[k - 1] >= 0) {
                close(ring->events[k - 1]);
            }
        }
    }
    perf->count = 0;
}

/* Where there is no room for rings of that size, for smaller ones: how much an ordinary user may have is limited
 * (perf_event_mlock_kb). */
static enum os_status open_rings(struct perf *perf, const struct os_late_wish *wish, size_t *bytes)
{
    enum os_status status = OS_OK;
    for (*bytes = wish->ring_bytes;; *bytes /= 2) {
        status = OS_OK;
        for (uint32_t i = 0; i < wish->cpu_count && status == OS_OK; i++) {
            perf->count = i + 1;
            status = open_ring(perf, &perf->rings[i], wish->cpus[i], *bytes);
        }
        if (status == OS_OK) {
            return OS_OK;
        }
        close_rings(perf);
        if (status != OS_NO_MEMORY || *bytes / 2 < LEAST_RING_BYTES) {
            return status;
        }
    }
}

/* A kind is missing where no event of it could be opened. */
static void tell_refused(const struct perf *perf, const char *missing[OS_LATE_KIND_LIMIT])
{
    bool is_open[OS_LATE_KIND_LIMIT] = {false};
    for (uint32_t i = 0; i < perf->layout_count; i++) {
        is_open[perf->layouts[i].kind] |= perf->rings[0].events[i] >= 0;
    }
    for (uint32_t i = 0; i < perf->layout_count; i++) {
        if (!is_open[perf->layouts[i].kind]) {
            missing[perf->layouts[i].kind] = "the kernel keeps this event from perf";
        }
    }
}

static void free_perf(struct perf *perf)
{
    close_rings(perf);
    late_view_destroy(&perf->view);
    free(perf);
}

static void switch_all(const struct os_late_trace *trace, int request)
{
    const struct perf *const perf = trace->state;
    for (uint32_t i = 0; i < perf->count; i++) {
        (void)ioctl(perf->rings[i].events[0], request, 0); /* the first leads the others */
    }
}

static void pause_perf(struct os_late_trace *trace)
{
    switch_all(trace, IOC_DISABLE);
}

static void resume_perf(struct os_late_trace *trace)
{
    switch_all(trace, IOC_ENABLE);
}

static struct os_answer open_perf(struct os_late_trace *trace, const struct os_late_wish *wish)
{
    struct perf *const perf = calloc(1, sizeof *perf + wish->cpu_count * sizeof perf->rings[0]);
    if (perf == NULL) {
        return why_not(OS_NO_MEMORY);
    }
    raise_file_limit();
    enum os_status status = late_layouts_read(perf->layouts, &perf->layout_count, trace->missing);
    if (status == OS_OK) {
        status = open_rings(perf, wish, &trace->ring_bytes);
    }
    if (status == OS_OK) {
        status = late_view_create(&perf->view, perf->layouts, trace->ring_bytes);
    }
    if (status != OS_OK) {
        free_perf(perf);
        return why_not(status);
    }
    tell_refused(perf, trace->missing);
    trace->state = perf;
    resume_perf(trace);
    return (struct os_answer){OS_PRESENT, ""};
}

static void close_perf(struct os_late_trace *trace)
{
    free_perf(trace->state);
}

/* Puts the event of a record behind those that are there. */
static void add(const struct late_view *view, const struct late_record *record, struct os_late_event *events, size_t limit,
                struct os_late_copied *copied)
{
    if (copied->count == limit) {
        copied->left_out++;
    } else if (late_view_decode(view, record, &events[copied->count])) {
        copied->count++;
    } else {
        copied->lost++;
    }
}

static const struct late_ring *ring_of(const struct perf *perf, int32_t cpu)
{
    for (uint32_t i = 0; i < perf->count; i++) {
        if (perf->rings[i].cpu == cpu) {
            return &perf->rings[i];
        }
    }
    return NULL;
}

/* What had begun since the last switch, and had not ended. */
static void add_going(const struct late_view *view, size_t before, size_t end, struct os_late_event *events, size_t limit,
                      struct os_late_copied *copied)
{
    struct late_going going = {.count = 0};
    for (size_t i = before; i > end; i--) {
        struct os_late_event event;
        if (late_view_decode(view, &view->records[i - 1], &event)) {
            late_going_see(&going, &event);
        }
    }
    for (size_t i = 0; i < going.count; i++) {
        if (copied->count < limit) {
            events[copied->count++] = going.events[i];
        } else {
            copied->left_out++;
        }
    }
}

static struct os_late_copied copy(struct os_late_trace *trace, int32_t cpu, int64_t from_ns, int64_t until_ns,
                                  struct os_late_event *events, size_t limit)
{
    struct perf *const perf = trace->state;
    struct late_view *const view = &perf->view;
    const struct late_ring *const ring = ring_of(perf, cpu);
    struct os_late_copied copied = {0};
    if (ring == NULL) {
        return copied;
    }
    late_view_look(view, ring, from_ns, until_ns);
    size_t first = 0;
    while (first < view->count && view->records[first].time_ns > until_ns) {
        first++;
    }
    size_t end = first;
    while (end < view->count && view->records[end].time_ns >= from_ns) {
        end++;
    }
    size_t before = end;
    while (before < view->count && perf->layouts[view->records[before].layout].kind != OS_LATE_SWITCH) {
        before++;
    }
    copied.lost = view->complete ? 0 : 1;
    if (before < view->count) {
        add(view, &view->records[before], events, limit, &copied);
        add_going(view, before, end, events, limit, &copied);
    }
    for (size_t i = end; i > first; i--) {
        add(view, &view->records[i - 1], events, limit, &copied);
    }
    return copied;
}

const struct late_recorder late_recorder_perf = {
    .name = "perf",
    .open = open_perf,
    .close = close_perf,
    .pause = pause_perf,
    .resume = resume_perf,
    .copy = copy,
};
