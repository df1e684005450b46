/*
 * A hybrid wait: sleep until shortly before the release, then poll the clock. How long before is learnt from the wake-ups
 * of the warm-up, which sleep until the release itself. Where too little of the period is left to sleep, all of it is
 * polled.
 */
#ifndef TAUTO_HYBRID_H
#define TAUTO_HYBRID_H

#include "os/os.h"
#include "record/json.h"

/* The longest margin is about 1 ms: who wakes later than that is late. */
enum { HYBRID_BINS = 4096, HYBRID_BIN_NS = 250, HYBRID_FEWEST_WAKE_UPS = 10 };

struct hybrid {
    int64_t period_ns;
    int64_t arming_ns; /* what a call takes that programs a timer and has nothing to wait for */
    int64_t margin_ns; /* 99 % of the wake-ups came within it. Once settled */
    bool settled;
    bool sleeps; /* false: it polls throughout. Once settled */
    uint64_t wake_ups;
    uint32_t bins[HYBRID_BINS]; /* of how late they came; the last one takes all that are later */
};

/* Before the first release, in the thread that is to wait: measures what programming a timer takes. */
void hybrid_begin(struct hybrid *hybrid, int64_t period_ns);

/* A sleep ended `late_ns` after the instant it was to end at. */
void hybrid_learn(struct hybrid *hybrid, int64_t late_ns);

/* Chooses the margin. Without a wake-up it polls throughout. */
void hybrid_settle(struct hybrid *hybrid);

/* Is there time to sleep when the release is `left_ns` away? */
static inline bool hybrid_has_time(const struct hybrid *hybrid, int64_t left_ns)
{
    return hybrid->sleeps && left_ns > hybrid->margin_ns + hybrid->arming_ns;
}

/* What was learnt, as "hybrid". */
void hybrid_to_json(struct json *json, const struct hybrid *hybrid);

#endif
