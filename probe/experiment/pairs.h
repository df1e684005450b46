/*
 * Two threads that meet once per sample: what switch and rhealstone share.
 *
 * One of them, the other one's waker, reads the clock as the last thing before the call that lets the other run; the
 * waiter reads it as the first thing when its own call returns. They go in lockstep: the waker posts `turn`, the
 * waiter asks and waits, is let go, takes the sample and posts `taken`. Nothing of the lockstep is inside the
 * interval.
 *
 * A sample counts only if the waiter really waited. On one CPU this is shown by the order of the readings: the waker
 * read the clock after the waiter had asked, so it had been given the CPU in between, and only a waiter that is blocked
 * gives it up to a thread that is not above it. On two CPUs (`apart`) the waker sleeps between the two, and the waiter
 * looks at its own CPU time: one that polled has used it. Attempts that were no meeting are not recorded; the next
 * sample's row says how many there were.
 */
#ifndef TAUTO_PAIRS_H
#define TAUTO_PAIRS_H

#include "experiment/stage.h"

enum { PAIR_COLUMNS = 3, PAIR_ROUND = 256, PAIR_APART_NS = 50000, PAIR_ATTEMPTS_LIMIT = 1000 };

/* before_ns, after_ns, attempts; measure duration_ns. */
extern const struct schema pair_schema;

struct pair {
    /* The waker's line. */
    _Alignas(CACHE_LINE_BYTES) _Atomic int64_t before_ns;
    /* The waiter's line; it alone reads and writes all but `over`. */
    _Alignas(CACHE_LINE_BYTES) _Atomic bool over;
    uint64_t attempts; /* for the sample that is to come */
    uint64_t voids;    /* attempts in vain, all together */
    int64_t samples;   /* number of the sample that is to come; those below 0 are warm-up */
    int64_t last_before_ns;
    int64_t row[PAIR_COLUMNS];
    bool apart; /* on two CPUs */
    bool gave_up;
    struct os_semaphore *turn;
    struct os_semaphore *taken;
};

enum os_status pair_create(struct pair *pair, bool apart);
void pair_destroy(struct pair *pair);

/* ---- The waiter ---- */

struct asking {
    int64_t asked_ns;
    int64_t cpu_time_ns; /* only apart */
};

void pair_begin(struct pair *pair, const struct stage *stage);
/* Waits for its turn, and notes that it now asks: the very next thing is the call that waits. */
struct asking pair_ask(struct pair *pair);
/* A sample, or an attempt in vain. False: it was the last one. Then `taken` is still to be posted. */
bool pair_take(struct pair *pair, struct stage *stage, const struct asking *asking, int64_t after_ns);
/* The same for an interval that the experiment has proven by itself. */
bool pair_take_row(struct pair *pair, struct stage *stage, bool valid, int64_t before_ns, int64_t after_ns);

/* ---- The waker ---- */

/* Gives the waiter its turn, and on another CPU the time to get there. */
void pair_give_turn(struct pair *pair);
/* The last thing before the call that lets the waiter run. */
static inline void pair_stamp(struct pair *pair)
{
    atomic_store_explicit(&pair->before_ns, os_now_ns(), memory_order_relaxed);
}
/* Waits until the sample is taken. False: it was the last one. */
bool pair_wait_taken(struct pair *pair);
/* A thread that goes on without end keeps others from its CPU: after every round it rests. `i` counts from 0. */
void pair_rest(int64_t i);

/* ---- Yield: two threads of equal priority on one CPU ---- */

void yield_first(struct stage *stage);
void yield_second(struct stage *stage);

/* Tells of rows whose samples are doubtful: many attempts in vain, or given up, which is an event of the stream as
 * well. For struct stages, where the context of each stage begins with a pair. */
void pairs_tell(const struct stages *set);

#endif
