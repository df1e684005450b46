// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Interrupt latency and preemption latency, as laurich2004 measures them: from the instant for which a timer was
 * programmed to the first reading of the clock in its handler (t1), and to the first in the thread that the handler
 * wakes (t2). The handler runs in the timer interrupt itself, on a PREEMPT_RT kernel too, unless TAUTOCHRONE_SOFT
 * wants it as what most of the kernel's timers are there.
 */
#include "session.h"

#include "compat.h"

static enum hrtimer_restart on_expiry(struct hrtimer *timer)
{
	struct session *session = container_of(timer, struct session, timer);

	session->handler = ktime_get(); /* first thing */
	WRITE_ONCE(session->expired, true);
	wake_up_process(session->tasks[0].thread);
	return HRTIMER_NORESTART;
}

static enum hrtimer_mode mode_of(const struct session *session)
{
	return session->setup.flags & TAUTOCHRONE_SOFT ? HRTIMER_MODE_ABS_PINNED_SOFT : HRTIMER_MODE_ABS_PINNED_HARD;
}

/* The first reading of the clock after the handler has run; false: the experiment is to stop. */
static bool wait_for_handler(struct session *session, s64 *wake_ns)
{
	bool expired;

	WRITE_ONCE(session->expired, false);
	hrtimer_start(&session->timer, ns_to_ktime(session->schedule.scheduled_ns), mode_of(session));
	do {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!READ_ONCE(session->expired) && !session_stopping(session))
			schedule();
		*wake_ns = ktime_get();
		__set_current_state(TASK_RUNNING);
		expired = READ_ONCE(session->expired);
	} while (!expired && !session_stopping(session));
	return expired;
}

static void task_1(struct session *session)
{
	while (schedule_goes_on(&session->schedule) && !session_stopping(session)) {
		s64 instants[] = { [TAUTOCHRONE_SCHEDULED] = session->schedule.scheduled_ns, 0, 0 };

		if (!wait_for_handler(session, &instants[TAUTOCHRONE_WAKE]))
			break;
		instants[TAUTOCHRONE_HANDLER] = session->handler;
		session_record(session, instants, ARRAY_SIZE(instants));
		schedule_next(&session->schedule, &session->books, instants[TAUTOCHRONE_WAKE]);
	}
	hrtimer_cancel(&session->timer);
}

static void prepare(struct session *session)
{
	hrtimer_setup(&session->timer, on_expiry, CLOCK_MONOTONIC, mode_of(session));
}

const struct measure measure_interrupt = { .prepare = prepare, .task_1 = task_1 };
