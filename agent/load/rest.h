/*
 * Real-time threads of a load leave some of their CPU to everything else, however much there is to do: without that,
 * they could hold the machine. Ordinary threads need no such care; the scheduler shares the CPU.
 */
#ifndef TAUTO_LOAD_REST_H
#define TAUTO_LOAD_REST_H

#include "load/load.h"

/* What the calling thread has used of its CPU; a new account begins every 100 ms. */
struct rest {
    int64_t begin_ns;
    int64_t used_before_ns;
    int64_t look_again_ns;
};

struct rest rest_begin(void);
/* Sleeps when the thread had more than its part of 75 % of its CPU, which it shares with the load's other threads
 * there. Cheap enough for every piece of work; ordinary threads never sleep here. */
void rest_when_due(struct rest *rest, const struct load_thread *thread);
/* In slices, so that the end of the load is heeded; for all threads. */
void rest_until(const struct load_thread *thread, int64_t instant_ns);

#endif
