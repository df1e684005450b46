/*
 * What the system did on a CPU, from the release of a cycle that came late until the time stamp of its thread: a flight
 * recorder. While a run goes on, the kernel writes the events of the measured CPUs into a ring for each of them, over the
 * oldest. Nothing decides there whether a cycle was late: the drain sees that when it takes the row, and copies what the
 * ring still has of that cycle. A measuring thread calls nothing of this.
 */
#ifndef TAUTO_LATE_TRACE_H
#define TAUTO_LATE_TRACE_H

#include "os/ordinary.h"

/* These numbers are in streams (docs/stream.md): they never change, new ones are added at the end. */
enum os_late_kind {
    OS_LATE_IRQ_BEGIN = 1,
    OS_LATE_IRQ_END = 2,
    OS_LATE_SOFTIRQ_BEGIN = 3,
    OS_LATE_SOFTIRQ_END = 4,
    OS_LATE_NMI = 5,          /* at its end */
    OS_LATE_VECTOR_BEGIN = 6, /* an interrupt of the CPU itself or from another CPU */
    OS_LATE_VECTOR_END = 7,
    OS_LATE_SWITCH = 8,
    OS_LATE_WAKE = 9, /* on the CPU of who wakes */
    OS_LATE_TIMER_BEGIN = 10,
    OS_LATE_TIMER_END = 11,
    OS_LATE_IDLE_BEGIN = 12,
    OS_LATE_IDLE_END = 13,
    OS_LATE_FREQUENCY = 14,
    OS_LATE_FAULT = 15, /* of threads of this program only, whose names begin with OS_LATE_OWN_THREADS */
    OS_LATE_WORK_BEGIN = 16, /* a kworker's function */
    OS_LATE_WORK_END = 17,
    OS_LATE_STEAL = 18, /* where the hypervisor's count for this CPU has changed, seen at interrupts and switches */
    OS_LATE_STACK = 19, /* of what the event before it interrupted */
    OS_LATE_SMI = 20,   /* where the CPU's count has changed */
    OS_LATE_KIND_LIMIT = 21,
};

/* What OS_LATE_VECTOR_BEGIN and _END have as `id`. */
enum os_late_vector {
    OS_LATE_VECTOR_LOCAL_TIMER = 1,
    OS_LATE_VECTOR_RESCHEDULE = 2,
    OS_LATE_VECTOR_CALL_FUNCTION = 3,
    OS_LATE_VECTOR_CALL_FUNCTION_SINGLE = 4,
    OS_LATE_VECTOR_IRQ_WORK = 5,
    OS_LATE_VECTOR_THERMAL = 6,
    OS_LATE_VECTOR_OTHER = 7,
};

#define OS_LATE_OWN_THREADS "tauto-"

enum { OS_LATE_NAME_BYTES = 16, OS_LATE_STACK_DEPTH = 24 };

/* A row of the stream's table late_events is this record as it is. INT64_MIN: not told. What a kind does not have is 0,
 * but `priority`, which is INT64_MIN then. */
struct os_late_event {
    int64_t time_ns;  /* on the clock of os_now_ns() */
    int64_t kind;     /* enum os_late_kind */
    int64_t id;       /* irq: number; softirq: vector; vector: enum os_late_vector; switch: the next thread; wake: the woken
                         one; timer begin: the handler's own reading of the clock; idle begin: state; frequency: kHz; fault:
                         address; steal: ns in all; stack: number, for os_late_trace_stack; smi: count in all */
    int64_t other;    /* switch: the previous thread; wake: the CPU that the thread is woken on; nmi: its duration, ns;
                         timer begin: the instant that it was programmed for; steal: ns since it was last looked at */
    int64_t priority; /* switch, wake: the kernel's, of `id`: 0 to 98 real-time, 100 to 139 others, -1 deadline */
    uint64_t address; /* of a function: irq begin, timer begin, work begin, nmi: its handler; fault: the instruction; switch: no
                         address but the state of the previous thread, 0 where it would go on running */
    uint64_t name[2]; /* switch, wake: of the thread `id`; irq begin: its device; vector begin: its kind in words, where the
                         kernel has no number; 16 bytes, cut, padded with zeroes; the first is the lowest byte of the first
                         word on every machine */
};
_Static_assert(sizeof(struct os_late_event) == 64, "eight columns of eight bytes");

enum os_late_way { OS_LATE_BEST, OS_LATE_BPF, OS_LATE_PERF };

struct os_late_wish {
    enum os_late_way way;
    const int32_t *cpus; /* those whose events are recorded, each once, all online */
    uint32_t cpu_count;
    uint32_t ring_bytes; /* for each CPU; 0: as the recorder finds good. It may get less. */
};

struct os_late_trace;

/* Begins to record. When the answer is not OS_PRESENT nothing was begun, and `why` says what to permit or enable. When it is,
 * `why` says why a way that is better is not used, and is empty where it is used or was not asked for. Nothing is left
 * behind in the system, whichever way the process ends. */
struct os_answer os_late_trace_open(struct os_late_trace **trace, const struct os_late_wish *wish);
/* NULL is allowed. */
void os_late_trace_close(struct os_late_trace *trace);

/* "bpf", "perf". */
const char *os_late_trace_name(const struct os_late_trace *trace);
/* How a kind is called in the stream: "irq_begin". */
const char *os_late_kind_name(enum os_late_kind kind);
/* Whether this kind is recorded, and why not. */
struct os_answer os_late_trace_records(const struct os_late_trace *trace, enum os_late_kind kind);
/* How many bytes of events each CPU keeps. */
size_t os_late_trace_ring_bytes(const struct os_late_trace *trace);

/* While it is paused no event is written, and what records costs as little as it can without closing: programs are not even
 * attached. */
void os_late_trace_pause(struct os_late_trace *trace);
void os_late_trace_resume(struct os_late_trace *trace);

/* From now on stacks are taken only where the timer's interrupt is so late, or a thread waited for its CPU for so long, that
 * this alone makes most of a cycle of `late_ns`; at first none are. Any thread may call it. */
void os_late_trace_take_stacks(struct os_late_trace *trace, int64_t late_ns);

/* The events of `cpu` from `from_ns` to `until_ns`, both included, in order of time. Before them comes what tells the state then,
 * where the ring still has it: the last switch before `from_ns`, begins since then whose ends had not come, and, with bpf, the
 * last switch to or from the thread that has the CPU at last. At most `limit` of them: the first ones; `left_out` says how many more there are.
 * `lost`: how many of that time the ring no longer has or never got; where only that it lost some is known, at least 1.
 * Returns how many were copied. */
struct os_late_copied {
    size_t count;
    uint64_t left_out;
    uint64_t lost;
};
struct os_late_copied os_late_trace_copy(struct os_late_trace *trace, int32_t cpu, int64_t from_ns, int64_t until_ns,
                                         struct os_late_event *events, size_t limit);

/* The addresses of a stack, innermost first, at most OS_LATE_STACK_DEPTH; 0 where this number has none. */
size_t os_late_trace_stack(struct os_late_trace *trace, int64_t number, uint64_t addresses[OS_LATE_STACK_DEPTH]);

/* Calls for each address whose function in the kernel is known, with its name ("tick_nohz_handler", "e1000_intr [e1000]").
 * The addresses must ascend. OS_NOT_PERMITTED: the kernel hides where its functions are (kptr_restrict). Takes tens of
 * milliseconds: after a run. */
enum os_status os_kernel_symbols(const uint64_t *addresses, size_t count,
                                 void (*visit)(void *argument, uint64_t address, const char *name), void *argument);

#endif
