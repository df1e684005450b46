/* The ways to record late cycles, tried in order: what all of them share. */
#include "late_recorder.h"

#include <stdlib.h>
#include <string.h>

/* The one that disturbs least first. */
static const struct late_recorder *const recorders[] = {&late_recorder_bpf, &late_recorder_perf};
static const enum os_late_way ways[] = {OS_LATE_BPF, OS_LATE_PERF};
enum { WAYS = sizeof recorders / sizeof recorders[0] };

static const char *const kind_names[OS_LATE_KIND_LIMIT] = {
    [0] = "",
    [OS_LATE_IRQ_BEGIN] = "irq_begin",
    [OS_LATE_IRQ_END] = "irq_end",
    [OS_LATE_SOFTIRQ_BEGIN] = "softirq_begin",
    [OS_LATE_SOFTIRQ_END] = "softirq_end",
    [OS_LATE_NMI] = "nmi",
    [OS_LATE_VECTOR_BEGIN] = "vector_begin",
    [OS_LATE_VECTOR_END] = "vector_end",
    [OS_LATE_SWITCH] = "switch",
    [OS_LATE_WAKE] = "wake",
    [OS_LATE_TIMER_BEGIN] = "timer_begin",
    [OS_LATE_TIMER_END] = "timer_end",
    [OS_LATE_IDLE_BEGIN] = "idle_begin",
    [OS_LATE_IDLE_END] = "idle_end",
    [OS_LATE_FREQUENCY] = "frequency",
    [OS_LATE_FAULT] = "fault",
    [OS_LATE_WORK_BEGIN] = "work_begin",
    [OS_LATE_WORK_END] = "work_end",
    [OS_LATE_STEAL] = "steal",
    [OS_LATE_STACK] = "stack",
    [OS_LATE_SMI] = "smi",
};

const char *os_late_kind_name(enum os_late_kind kind)
{
    return kind_names[kind];
}

void late_name(uint64_t name[2], const char *text, size_t most)
{
    enum { BITS = 8, WORD = 8 };
    name[0] = 0;
    name[1] = 0;
    for (size_t i = 0; i < most && i < OS_LATE_NAME_BYTES && text[i] != '\0'; i++) {
        name[i / WORD] |= (uint64_t)(unsigned char)text[i] << (i % WORD * BITS);
    }
}

static int64_t begin_of(int64_t kind)
{
    switch (kind) {
    case OS_LATE_IRQ_END:
    case OS_LATE_SOFTIRQ_END:
    case OS_LATE_VECTOR_END:
    case OS_LATE_TIMER_END:
    case OS_LATE_IDLE_END:
    case OS_LATE_WORK_END:
        return kind - 1;
    default:
        return 0;
    }
}

void late_going_see(struct late_going *going, const struct os_late_event *event)
{
    const int64_t begin = begin_of(event->kind);
    size_t at = going->count;
    if (begin_of(event->kind + 1) == event->kind && going->count < LATE_GOING_LIMIT) {
        going->events[going->count++] = *event;
    }
    while (begin != 0 && at > 0) {
        if (going->events[--at].kind == begin) {
            going->count--;
            memmove(&going->events[at], &going->events[at + 1], (going->count - at) * sizeof going->events[0]);
            break;
        }
    }
}

/* Some seconds of an idle CPU, a tenth of a busy one; a small board keeps its memory. A power of two. */
static uint32_t good_ring_bytes(const struct os_late_wish *wish)
{
    enum { MOST = 4 << 20, LEAST = 64 << 10, PART = 16 };
    const int64_t for_each = os_memory_available_bytes() / PART / wish->cpu_count;
    uint32_t bytes = MOST;
    while (bytes > LEAST && bytes > for_each) {
        bytes /= 2;
    }
    return bytes;
}

struct os_answer os_late_trace_open(struct os_late_trace **trace, const struct os_late_wish *wish)
{
    struct os_late_trace *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return (struct os_answer){OS_ABSENT, os_status_text(OS_NO_MEMORY)};
    }
    struct os_late_wish own = *wish;
    own.ring_bytes = wish->ring_bytes != 0 ? wish->ring_bytes : good_ring_bytes(wish);
    const char *why_not_better = "";
    struct os_answer answer = {OS_ABSENT, "this program has no such recorder"};
    for (size_t i = 0; i < WAYS; i++) {
        if (wish->way != OS_LATE_BEST && wish->way != ways[i]) {
            continue;
        }
        memset(made, 0, sizeof *made);
        made->recorder = recorders[i];
        answer = recorders[i]->open(made, &own);
        if (answer.availability == OS_PRESENT) {
            *trace = made;
            return (struct os_answer){OS_PRESENT, why_not_better};
        }
        why_not_better = answer.why;
    }
    free(made);
    return answer;
}

void os_late_trace_close(struct os_late_trace *trace)
{
    if (trace != NULL) {
        trace->recorder->close(trace);
        free(trace);
    }
}

const char *os_late_trace_name(const struct os_late_trace *trace)
{
    return trace->recorder->name;
}

struct os_answer os_late_trace_records(const struct os_late_trace *trace, enum os_late_kind kind)
{
    const char *const why = trace->missing[kind];
    return why == NULL ? (struct os_answer){OS_PRESENT, ""} : (struct os_answer){OS_ABSENT, why};
}

size_t os_late_trace_ring_bytes(const struct os_late_trace *trace)
{
    return trace->ring_bytes;
}

void os_late_trace_pause(struct os_late_trace *trace)
{
    trace->recorder->pause(trace);
}

void os_late_trace_resume(struct os_late_trace *trace)
{
    trace->recorder->resume(trace);
}

void os_late_trace_take_stacks(struct os_late_trace *trace, int64_t late_ns)
{
    enum { LEAST_NS = 10000, MOST_OF = 2 };
    const int64_t from_ns = late_ns / MOST_OF;
    if (trace->recorder->take_stacks != NULL) {
        trace->recorder->take_stacks(trace, from_ns > LEAST_NS ? from_ns : LEAST_NS);
    }
}

struct os_late_copied os_late_trace_copy(struct os_late_trace *trace, int32_t cpu, int64_t from_ns, int64_t until_ns,
                                         struct os_late_event *events, size_t limit)
{
    return trace->recorder->copy(trace, cpu, from_ns, until_ns, events, limit);
}

size_t os_late_trace_stack(struct os_late_trace *trace, int64_t number, uint64_t addresses[OS_LATE_STACK_DEPTH])
{
    return trace->recorder->stack != NULL ? trace->recorder->stack(trace, number, addresses) : 0;
}
