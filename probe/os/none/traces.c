/*
 * Another system than Linux, or a real-time core beside it, has timers and a scheduler of its own, which Linux's trace points
 * do not show: nothing is recorded of what makes a cycle late, nor of when the handler of a timer began.
 */
#include "os/late_trace.h"
#include "os/timer_trace.h"

static const struct os_answer nothing = {
    OS_ABSENT, "the probe can trace the timers and the scheduler of Linux alone, and here they are another system's"};

const char *os_timer_trace_name(enum os_timer_trace_way way)
{
    (void)way;
    return "none";
}

struct os_answer os_timer_trace_open(struct os_timer_trace **trace, enum os_timer_trace_way way)
{
    (void)trace;
    (void)way;
    return nothing;
}

void os_timer_trace_close(struct os_timer_trace *trace)
{
    (void)trace;
}

void os_timer_trace_expect(struct os_timer_trace *trace, int64_t expiry_ns)
{
    (void)trace;
    (void)expiry_ns;
}

int64_t os_timer_trace_handler_ns(const struct os_timer_trace *trace)
{
    (void)trace;
    return INT64_MIN;
}

struct os_answer os_late_trace_open(struct os_late_trace **trace, const struct os_late_wish *wish)
{
    (void)trace;
    (void)wish;
    return nothing;
}

void os_late_trace_close(struct os_late_trace *trace)
{
    (void)trace;
}

const char *os_late_trace_name(const struct os_late_trace *trace)
{
    (void)trace;
    return "none";
}

const char *os_late_kind_name(enum os_late_kind kind)
{
    (void)kind;
    return "none";
}

struct os_answer os_late_trace_records(const struct os_late_trace *trace, enum os_late_kind kind)
{
    (void)trace;
    (void)kind;
    return nothing;
}

size_t os_late_trace_ring_bytes(const struct os_late_trace *trace)
{
    (void)trace;
    return 0;
}

void os_late_trace_pause(struct os_late_trace *trace)
{
    (void)trace;
}

void os_late_trace_resume(struct os_late_trace *trace)
{
    (void)trace;
}

void os_late_trace_take_stacks(struct os_late_trace *trace, int64_t late_ns)
{
    (void)trace;
    (void)late_ns;
}

struct os_late_copied os_late_trace_copy(struct os_late_trace *trace, int32_t cpu, int64_t from_ns, int64_t until_ns,
                                         struct os_late_event *events, size_t limit)
{
    (void)trace;
    (void)cpu;
    (void)from_ns;
    (void)until_ns;
    (void)events;
    (void)limit;
    return (struct os_late_copied){0};
}

size_t os_late_trace_stack(struct os_late_trace *trace, int64_t number, uint64_t addresses[OS_LATE_STACK_DEPTH])
{
    (void)trace;
    (void)number;
    (void)addresses;
    return 0;
}

enum os_status os_kernel_symbols(const uint64_t *addresses, size_t count,
                                 void (*visit)(void *argument, uint64_t address, const char *name), void *argument)
{
    (void)addresses;
    (void)count;
    (void)visit;
    (void)argument;
    return OS_UNSUPPORTED;
}
