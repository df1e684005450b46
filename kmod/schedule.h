/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An absolute periodic schedule and its books: release k is start + k * period, never now + period. Releases are
 * numbered from -warmup; those below 0 are not recorded. Who is still late from an earlier release goes on with the
 * first one that is still to come, and those passed over are missed. The user-space half does the same.
 */
#ifndef TAUTOCHRONE_SCHEDULE_H
#define TAUTOCHRONE_SCHEDULE_H

#include <linux/types.h>

#include "tautochrone.h"

struct schedule {
	s64 period_ns;
	s64 count;		/* releases that are recorded */
	s64 release;		/* the next one */
	s64 scheduled_ns;	/* its instant */
};

void schedule_begin(struct schedule *schedule, const struct tautochrone_setup *setup, s64 first_release_ns);

static inline bool schedule_goes_on(const struct schedule *schedule)
{
	return schedule->release < schedule->count;
}

/* The release was served, and it is now `now_ns`: on to the first one that is still to come. */
void schedule_next(struct schedule *schedule, struct tautochrone_books *books, s64 now_ns);

/* At the end: what is due and will not be served is missed, and the released ones are booked. */
void schedule_close(struct schedule *schedule, struct tautochrone_books *books, s64 now_ns);

#endif
