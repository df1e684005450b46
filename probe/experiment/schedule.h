/*
 * An absolute periodic schedule and its books: release k is start + k * period, never now + period. Releases are
 * numbered from -warmup; those below 0 are not recorded. Who is still late from an earlier release goes on with the
 * first one that is still to come, and those passed over are missed.
 */
#ifndef TAUTO_SCHEDULE_H
#define TAUTO_SCHEDULE_H

#include "record/recorder.h"

/* What becomes of the releases that came while one was served too late: they are missed, served one after the other as if
 * they had been in time, or the run ends. */
enum overrun { OVERRUN_SKIP, OVERRUN_REPLAY, OVERRUN_STOP };
extern const char *const overrun_words[]; /* as the enumeration; ends with NULL */

struct schedule {
    int64_t period_ns;
    int64_t count;        /* releases that are recorded */
    int64_t release;      /* the next one */
    int64_t scheduled_ns; /* its instant */
};

struct schedule schedule_from(int64_t first_release_ns, int64_t period_ns, int64_t count, int64_t warmup);

static inline bool schedule_goes_on(const struct schedule *schedule, const struct recorder *recorder)
{
    return schedule->release < schedule->count && !recorder_stopping(recorder);
}

/* Sleeps until the next release. Returns the first reading of the clock after the sleep; it lies before the release
 * only when the run is to stop, and such a release does not count. */
int64_t schedule_wait(const struct schedule *schedule, const struct recorder *recorder);

/* On to the first release after `now_ns`; those passed over are missed. Returns how many of them are recorded ones. */
uint64_t schedule_pass_over(struct schedule *schedule, struct source *source, int64_t now_ns);

/* The release was served, and it is now `now_ns`: on to the next one. False: it is there already, or past, and the one
 * that was served counts as an overrun. */
bool schedule_advance(struct schedule *schedule, struct source *source, int64_t now_ns);

/* What follows a release that was served by `now_ns`: on to the next one, as `overrun` says. False: the run is to end
 * here, and all its sources with it. */
bool schedule_follow(struct schedule *schedule, struct source *source, struct recorder *recorder, enum overrun overrun,
                     int64_t now_ns);

/* schedule_advance with the policy `skip`: what is due already is missed. */
void schedule_next(struct schedule *schedule, struct source *source, int64_t now_ns);

/* At the end: what is due and will not be served is missed, and the released ones are booked. */
void schedule_close(struct schedule *schedule, struct source *source);

#endif
