/* An absolute schedule at a rate, and of its instants every so many-th. */
#ifndef TAUTO_LOAD_BEAT_H
#define TAUTO_LOAD_BEAT_H

#include <stdint.h>

/* Instants start + k * every / rate. */
struct beat {
    int64_t start_ns;
    int64_t rate_hz;
    int64_t every;
    int64_t next; /* k */
    uint64_t left_out;
};

static inline int64_t beat_instant_ns(const struct beat *beat, int64_t number)
{
    const int64_t ns_per_s = 1000000000;
    const int64_t ticks = number * beat->every;
    return beat->start_ns + ticks / beat->rate_hz * ns_per_s + ticks % beat->rate_hz * ns_per_s / beat->rate_hz;
}

/* The next instant that has not passed. */
static inline int64_t beat_next_ns(struct beat *beat, int64_t now_ns)
{
    const int64_t ns_per_s = 1000000000;
    const int64_t elapsed_ns = now_ns - beat->start_ns;
    const int64_t passed =
        elapsed_ns / ns_per_s * beat->rate_hz + elapsed_ns % ns_per_s * beat->rate_hz / ns_per_s;
    const int64_t first_to_come = passed / beat->every + 1;
    if (first_to_come > beat->next) {
        beat->left_out += (uint64_t)(first_to_come - beat->next);
        beat->next = first_to_come;
    }
    return beat_instant_ns(beat, beat->next++);
}

#endif
