/*
 * The trace events timer:hrtimer_start and timer:hrtimer_expire_entry, with a small program of ours at each (bpf(2)).
 *
 * hrtimer_interrupt() reads the clock as the first thing it does, and that reading is the field `now` of
 * hrtimer_expire_entry for each timer that it then finds expired (kernel/time/hrtimer.c), on the timer's clock, here
 * CLOCK_MONOTONIC. hrtimer_start tells which timer is ours: the one whose `softexpires` is the instant that the thread
 * is to sleep until, whatever its timer slack. So the first program notes the timer's address, and the second, at the
 * expiry of this timer, notes `now`, both in memory that we have mapped. Between the two time stamps that is some ten
 * instructions of the kernel's, no buffer that fills, nobody to be woken.
 *
 * A program runs at its event on every CPU, so that it does not matter which one the kernel chose for the timer.
 * Everything ends with the process, whichever way it ends.
 *
 * Where the kernel has them, the programs run at the raw tracepoints beneath these events: perf, which fills a record for
 * each event before it asks the program, and drops some, is not between. They read the fields from the timer itself.
 *
 * (Samples in the ring of perf_event_open(2) would need no program. But that ring has to be read, and has somebody woken
 * now and then.)
 */
#define _GNU_SOURCE /* syscall */
#include "os/timer_trace.h"

#include "status.h"
#include "timer_trace_bpf.h"
#include "timer_trace_format.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/perf_event.h, which not every C library brings along. */
enum { PERF_TYPE_TRACEPOINT = 2, PERF_EVENT_IOC_SET_BPF = (int)_IOW('$', 8, uint32_t) };

/* perf_event_attr in its first version, of 64 bytes, which every kernel takes. */
struct perf_attributes {
    uint32_t type;
    uint32_t size;
    uint64_t config;
    uint64_t sample_period;
    uint64_t unused[5];
};
_Static_assert(sizeof(struct perf_attributes) == 64, "PERF_ATTR_SIZE_VER0");

struct os_timer_trace {
    struct timer_cell *cell;
    size_t cell_bytes;
    int map;
    int start_event;
    int expire_event;
};

void os_timer_trace_expect(struct os_timer_trace *trace, int64_t expiry_ns)
{
    struct timer_cell *const cell = trace->cell;
    atomic_store_explicit(&cell->timer, 0, memory_order_relaxed);
    atomic_store_explicit(&cell->handler_ns, INT64_MIN, memory_order_relaxed);
    atomic_store_explicit(&cell->expiry_ns, expiry_ns, memory_order_release);
}

int64_t os_timer_trace_handler_ns(const struct os_timer_trace *trace)
{
    return atomic_load_explicit(&trace->cell->handler_ns, memory_order_acquire);
}

static struct os_answer absent(const char *why)
{
    return (struct os_answer){OS_ABSENT, why};
}

static struct os_answer why_not(int error)
{
    switch (error) {
    case EPERM:
    case EACCES:
        return (struct os_answer){
            OS_DENIED, "the kernel does not let this user listen to its timers. Run as root, or (Linux 5.8 and later) give "
                       "tauto-probe the capabilities CAP_PERFMON and CAP_BPF. Where root is refused, a container "
                       "(seccomp), a locked down kernel (/sys/kernel/security/lockdown) or, before Linux 5.11, the limit "
                       "on locked memory (ulimit -l) is in the way"};
    case ENOSYS:
    case ENOENT:
    case EINVAL:
    case EOPNOTSUPP:
        return absent("this kernel can't run a program at its timer events. It needs Linux 5.5 or later with "
                      "CONFIG_BPF_SYSCALL, CONFIG_BPF_EVENTS and CONFIG_PERF_EVENTS");
    default:
        return absent(os_status_text(os_status_from_errno(error)));
    }
}

/* On one CPU, whichever: the program runs on all. */
static int open_event(uint32_t id, int program)
{
    int32_t cpu = 0;
    while (!os_cpu_is_online(cpu) && cpu < os_cpu_limit()) {
        cpu++;
    }
    const struct perf_attributes attributes = {
        .type = PERF_TYPE_TRACEPOINT, .size = sizeof attributes, .config = id, .sample_period = 1};
    const int event = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, 0UL);
    if (event >= 0 && ioctl(event, PERF_EVENT_IOC_SET_BPF, program) != 0) {
        const int error = errno;
        close(event);
        errno = error;
        return -1;
    }
    return event;
}

/* Loads a program and puts it at its event, which then holds it. Returns the event, or -1 with errno set. */
static int listen_to(const struct trace_event *event, int (*load)(int map, const struct trace_event *event), int map)
{
    const int program = load(map, event);
    if (program < 0) {
        return -1;
    }
    const int opened = open_event(event->id, program);
    const int error = errno;
    close(program);
    errno = error;
    return opened;
}

static struct os_answer listen_to_both(struct os_timer_trace *trace, const struct timer_events *events)
{
    trace->expire_event = listen_to(&events->expire, timer_bpf_load_expire, trace->map);
    if (trace->expire_event >= 0) {
        trace->start_event = listen_to(&events->start, timer_bpf_load_start, trace->map);
    }
    return trace->start_event >= 0 ? (struct os_answer){OS_PRESENT, ""} : why_not(errno);
}

static struct os_answer share_cell(struct os_timer_trace *trace)
{
    trace->cell_bytes = getauxval(AT_PAGESZ);
    trace->map = timer_bpf_create_map();
    if (trace->map < 0) {
        return why_not(errno);
    }
    void *const cell = mmap(NULL, trace->cell_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, trace->map, 0);
    if (cell == MAP_FAILED) {
        return why_not(errno);
    }
    trace->cell = cell;
    os_timer_trace_expect(trace, INT64_MIN); /* touches it */
    return (struct os_answer){OS_PRESENT, ""};
}

static struct os_answer why_no_formats(enum os_status status)
{
    switch (status) {
    case OS_NOT_PERMITTED:
        return (struct os_answer){
            OS_DENIED, "this user may not read what the kernel's timer events look like. Run as root; or let root mount "
                       "tracefs for your group (mount -t tracefs -o gid=GROUP,mode=750 tracefs /sys/kernel/tracing) "
                       "and give tauto-probe the capabilities CAP_PERFMON and CAP_BPF. Where root is refused, it is in a "
                       "container without CAP_SYS_ADMIN, or the kernel is locked down (/sys/kernel/security/lockdown)"};
    case OS_UNSUPPORTED:
        return absent("this kernel has no timer events, or /sys is not mounted. It needs CONFIG_EVENT_TRACING");
    case OS_FAILED:
        return absent("this kernel's timer events look otherwise than is known here");
    default:
        return absent(os_status_text(status));
    }
}

const char *os_timer_trace_name(enum os_timer_trace_way way)
{
    return way == OS_TIMER_TRACE_DIRECT ? "raw tracepoint" : "trace event";
}

static struct os_answer listen_directly(struct os_timer_trace *trace)
{
    if (sizeof(void *) != sizeof(uint64_t)) {
        return absent("raw tracepoints are used on 64-bit systems only");
    }
    trace->expire_event = timer_bpf_open_raw_expire(trace->map);
    if (trace->expire_event >= 0) {
        trace->start_event = timer_bpf_open_raw_start(trace->map);
    }
    return trace->start_event >= 0 ? (struct os_answer){OS_PRESENT, ""} : why_not(errno);
}

struct os_answer os_timer_trace_open(struct os_timer_trace **trace, enum os_timer_trace_way way)
{
    struct timer_events events = {0};
    const enum os_status status = way == OS_TIMER_TRACE_USUAL ? timer_events_read(&events) : OS_OK;
    if (status != OS_OK) {
        return why_no_formats(status);
    }
    struct os_timer_trace *const made = malloc(sizeof *made);
    if (made == NULL) {
        return absent(os_status_text(OS_NO_MEMORY));
    }
    *made = (struct os_timer_trace){.map = -1, .start_event = -1, .expire_event = -1};
    struct os_answer answer = share_cell(made);
    if (answer.availability == OS_PRESENT) {
        answer = way == OS_TIMER_TRACE_DIRECT ? listen_directly(made) : listen_to_both(made, &events);
    }
    if (answer.availability == OS_PRESENT) {
        *trace = made;
    } else {
        os_timer_trace_close(made);
    }
    return answer;
}

static void close_file(int file)
{
    if (file >= 0) {
        close(file);
    }
}

void os_timer_trace_close(struct os_timer_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    close_file(trace->start_event);
    close_file(trace->expire_event);
    if (trace->cell != NULL) {
        munmap(trace->cell, trace->cell_bytes);
    }
    close_file(trace->map);
    free(trace);
}
