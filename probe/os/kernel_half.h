/*
 * The kernel-space half of the probe, where it is loaded: timers and threads of the kernel itself, measured as ours are
 * (kmod/, docs/kmod.md). What it records it keeps until it is read; it wakes nobody for that.
 */
#ifndef TAUTO_KERNEL_HALF_H
#define TAUTO_KERNEL_HALF_H

#include "os/os.h"

enum kernel_measure { KERNEL_INTERRUPT, KERNEL_PERIOD, KERNEL_RESPONSE };

/* How the two tasks of a response reach each other. The last one's second task is ours. */
enum kernel_mechanism {
    KERNEL_SEMAPHORE,
    KERNEL_COMPLETION,
    KERNEL_FIFO,
    KERNEL_MESSAGE,
    KERNEL_USER,
    KERNEL_MECHANISM_COUNT,
};

/* The instants of a row, by measure. */
enum {
    KERNEL_INTERRUPT_INSTANTS = 3, /* scheduled, wake, handler */
    KERNEL_PERIOD_INSTANTS = 3,    /* scheduled, expected, wake */
    KERNEL_RESPONSE_INSTANTS = 5,  /* before, after, received, answered, scheduled */
    KERNEL_INSTANTS = 5,
};

struct kernel_row {
    int64_t release; /* from 0 */
    int64_t instants[KERNEL_INSTANTS];
};

/* The first task measures; the second is a response's. Policy FIFO. */
struct kernel_task {
    int32_t cpu;
    int32_t below_highest;
};

struct kernel_setup {
    enum kernel_measure measure;
    enum kernel_mechanism mechanism; /* of KERNEL_RESPONSE */
    bool soft;                       /* of KERNEL_INTERRUPT: the handler runs as a soft interrupt */
    int64_t period_ns;
    int64_t count;
    int64_t warmup;
    int64_t rows; /* that it keeps at most until they are read */
    struct kernel_task tasks[2];
};

enum { KERNEL_SHORTEST_PERIOD_NS = 20000, KERNEL_ROWS_LIMIT = 1 << 18, KERNEL_VERSION = 1, KERNEL_BUILD_BYTES = 41 };

/* Final once `ended`. released = completed + missed, completed = recorded + dropped. */
struct kernel_books {
    uint64_t released;
    uint64_t completed;
    uint64_t missed;
    uint64_t overruns;
    uint64_t warmup;
    uint64_t recorded;
    uint64_t dropped; /* it could keep no more rows */
    int64_t cpu_time_ns;
    bool ended;
};

struct os_kernel_half;

/* One user at a time. When the answer is not OS_PRESENT, `why` says what to do. */
struct os_answer os_kernel_half_open(struct os_kernel_half **half);
/* Ends whatever runs. NULL is allowed. */
void os_kernel_half_close(struct os_kernel_half *half);

/* What tells this build of it from all others, as text; empty where the system does not tell. */
void os_kernel_half_build(char build[KERNEL_BUILD_BYTES]);

/* Makes the threads, which wait for the start; what was set up before is gone. OS_INVALID: a CPU or a value that it
 * does not take. OS_UNSUPPORTED: another version of it is loaded. OS_NO_MEMORY. */
enum os_status os_kernel_half_set_up(struct os_kernel_half *half, const struct kernel_setup *setup,
                                     struct os_thread_obtained obtained[2]);
enum os_status os_kernel_half_start(struct os_kernel_half *half);
/* Ends it early; what was recorded can still be read. */
enum os_status os_kernel_half_stop(struct os_kernel_half *half);

/* Rows that are there now, at most `most`. Does not wait. */
enum os_status os_kernel_half_read(struct os_kernel_half *half, struct kernel_row *rows, size_t most, size_t *count);
enum os_status os_kernel_half_books(struct os_kernel_half *half, struct kernel_books *books);

/* ---- Real-time side ---------------------------------------------------------- */

/* Of the second task of KERNEL_USER. Waits for a message. OS_CLOSED: the experiment is over. */
enum os_status os_kernel_half_receive(struct os_kernel_half *half);
enum os_status os_kernel_half_answer(struct os_kernel_half *half, int64_t received_ns);

#endif
