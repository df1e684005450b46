// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "schedule.h"

#include <linux/math64.h>
#include <linux/minmax.h>

void schedule_begin(struct schedule *schedule, const struct tautochrone_setup *setup, s64 first_release_ns)
{
	schedule->period_ns = setup->period_ns;
	schedule->count = setup->count;
	schedule->release = -setup->warmup;
	schedule->scheduled_ns = first_release_ns;
}

static void pass_over(struct schedule *schedule, struct tautochrone_books *books, s64 now_ns)
{
	s64 behind = div64_s64(now_ns - schedule->scheduled_ns, schedule->period_ns) + 1;
	s64 passed = min(behind, schedule->count - schedule->release);
	s64 warming = max_t(s64, -schedule->release, 0);

	schedule->release += passed;
	schedule->scheduled_ns += passed * schedule->period_ns;
	books->missed += max_t(s64, passed - warming, 0);
}

void schedule_next(struct schedule *schedule, struct tautochrone_books *books, s64 now_ns)
{
	schedule->release++;
	schedule->scheduled_ns += schedule->period_ns;
	if (now_ns < schedule->scheduled_ns)
		return;
	if (schedule->release > 0)
		books->overruns++;
	if (schedule_goes_on(schedule))
		pass_over(schedule, books, now_ns);
}

void schedule_close(struct schedule *schedule, struct tautochrone_books *books, s64 now_ns)
{
	if (schedule_goes_on(schedule) && now_ns >= schedule->scheduled_ns)
		pass_over(schedule, books, now_ns);
	books->released = max_t(s64, schedule->release, 0);
}
