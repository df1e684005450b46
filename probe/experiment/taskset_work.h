/*
 * Work of a known length: a chain of integer steps, each of which needs the one before, in registers alone. So many
 * steps are the same work whatever preempts them, and they cost the same time on a CPU of constant frequency. What a
 * step costs is measured on each CPU before the run and after it.
 */
#ifndef TAUTO_TASKSET_WORK_H
#define TAUTO_TASKSET_WORK_H

#include "record/recorder.h"

enum work_kind {
    WORK_CALIBRATED, /* so many steps */
    WORK_CLOCK,      /* as delgado2020's Algorithm 2: the clock is read until 1 ms has passed, again and again */
};

enum { WORK_STEPS_BASE = 1000000 }; /* costs are told for so many steps */

/* What WORK_STEPS_BASE steps took in many short batches: the quartiles. */
struct work_cost {
    int64_t lower_ns;
    int64_t median_ns;
    int64_t upper_ns;
};

struct work {
    enum work_kind kind;
    uint64_t steps;          /* calibrated: all of them, */
    uint64_t steps_at_once;  /* and about 1 ms of them, after which a stop is heeded */
    int64_t execution_ns;    /* clock */
    volatile uint64_t state; /* the result counts, so the steps may not be left out */
};

/* Takes about 40 ms on the CPU where the calling thread is; nothing should preempt it. */
struct work_cost work_measure_cost(void);
/* `key` is NULL inside an array. */
void work_cost_to_json(struct json *json, const char *key, int32_t cpu, const struct work_cost *cost);
/* Between the quartiles, and between two medians: in thousandths of the (first) median. */
int64_t work_cost_spread(const struct work_cost *cost);
int64_t work_cost_change(const struct work_cost *before, const struct work_cost *after);

/* `cost` is not needed by WORK_CLOCK. */
struct work work_of(enum work_kind kind, int64_t execution_ns, const struct work_cost *cost);

/* False when a stop was requested before it was done. */
bool work_do(struct work *work, const struct recorder *recorder);

/* The steps themselves, for tests; returns the state after them. */
uint64_t work_steps(uint64_t state, uint64_t steps);

#endif
