/* How often a periodic experiment releases, and for how long: a rate or a period, a duration or a count. */
#ifndef TAUTO_RHYTHM_H
#define TAUTO_RHYTHM_H

#include "options.h"

struct rhythm {
    int64_t rate_hz;
    int64_t period_ns;
    int64_t duration_ns;
};

#define RHYTHM_OPTIONS(target)                                                                                        \
    {"rate", OPTION_RATE, &(target)->rate_hz, NULL, "releases in a second", false},                                  \
        {"period", OPTION_PERIOD, &(target)->period_ns, NULL, "between two releases, instead of a rate [10ms]",     \
         false},                                                                                                      \
    {                                                                                                                 \
        "duration", OPTION_DURATION, &(target)->duration_ns, NULL, "of the recorded part, instead of a count [10s]",  \
            false                                                                                                     \
    }

/* 100 releases in a second, for ten seconds. */
enum { RHYTHM_USUAL_RATE_HZ = 100, RHYTHM_USUAL_COUNT = 1000, RHYTHM_USUAL_WARMUP = 10 };
struct rhythm rhythm_default(void);

/* The period, of whichever was given; `range` is how long it may be, in words. False after telling what is
 * wrong. */
bool rhythm_choose_period(struct rhythm *rhythm, int64_t shortest_ns, int64_t longest_ns, const char *range);
/* The count, of the duration where none was given. False after telling what is wrong. */
bool rhythm_choose_count(const struct rhythm *rhythm, int64_t *count);

#endif
