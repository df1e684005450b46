/*
 * The system's own measurement of its timers: on each of several CPUs it has a timer expire again and again, and tells
 * how late the timer's handler began, and how late the thread of the system's own that the handler woke. On Linux that
 * is the tracer timerlat.
 */
#ifndef TAUTO_TIMERLAT_H
#define TAUTO_TIMERLAT_H

#include "os/os.h"

struct os_timerlat;

/* What one of the two had to tell. Activations of a CPU are numbered 1, 2, 3, …; of each the handler tells first. */
struct os_timerlat_event {
    int64_t noted_ns;   /* the measuring clock when it was noted, soon after the latency was taken */
    int64_t latency_ns; /* from the expiry of the timer to the reading of the clock */
    uint32_t activation;
    bool by_thread;
    int64_t thread; /* the number of the thread that was running */
};

typedef void (*os_timerlat_visitor)(void *argument, const struct os_timerlat_event *event);

/* Begins to measure on `count` CPUs. What it changes in the system is put back by os_timerlat_close; what an earlier
 * process left, because it was killed, is put back now, and `left_over` says how many did. When the answer is not
 * OS_PRESENT nothing was begun, and `why` says what to enable. One process at a time. */
struct os_answer os_timerlat_open(struct os_timerlat **trace, const int32_t *cpus, uint32_t count, int64_t period_ns,
                                  uint32_t *left_over);
/* Ends it. False: not everything could be put back. NULL is allowed. */
bool os_timerlat_close(struct os_timerlat *trace);

/* Whatever the CPU of this index has told since the last time, oldest first. Never waits. What the system could not
 * keep is missing: the numbers of the activations tell. */
enum os_status os_timerlat_read(struct os_timerlat *trace, uint32_t index, os_timerlat_visitor visit, void *argument);

/* The system's thread of this number: what it has. False: it can't be told from here. */
bool os_timerlat_thread(int64_t thread, struct os_thread_obtained *obtained);
/* Its CPU time so far; INT64_MIN where it can't be told. */
int64_t os_timerlat_thread_cpu_time_ns(int64_t thread);
/* The priority that the system gives its threads, as levels below the highest of policy FIFO. */
int32_t os_timerlat_below_highest(void);

#endif
