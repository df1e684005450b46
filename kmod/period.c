// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The error of the period of a periodic thread, as koh2013 3.1 measures it: the time from one start of the task to its
 * next start, against the period that was asked for. Releases are absolute, so errors do not add up.
 */
#include "session.h"

static void task_1(struct session *session)
{
	struct schedule *schedule = &session->schedule;
	s64 previous_ns;

	/* The first start has none before it. */
	schedule->scheduled_ns -= schedule->period_ns;
	previous_ns = session_wait(session);
	schedule->scheduled_ns += schedule->period_ns;
	while (schedule_goes_on(schedule) && !session_stopping(session)) {
		s64 wake_ns = session_wait(session);
		s64 instants[] = {
			[TAUTOCHRONE_SCHEDULED] = schedule->scheduled_ns,
			[TAUTOCHRONE_PERIOD_EXPECTED] = previous_ns + schedule->period_ns,
			[TAUTOCHRONE_PERIOD_WAKE] = wake_ns,
		};

		if (wake_ns < schedule->scheduled_ns)
			break;
		session_record(session, instants, ARRAY_SIZE(instants));
		previous_ns = wake_ns;
		schedule_next(schedule, &session->books, wake_ns);
	}
}

const struct measure measure_period = { .task_1 = task_1 };
