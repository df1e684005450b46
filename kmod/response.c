// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Response time of each way in which one task wakes or tells another, as koh2013 3.2 to 3.4 measures it in kernel
 * space. Task 1 reads the clock at its release (before), sends, reads it again (after) and waits for the answer. Task 2
 * reads it when its receive returned (received) and answers. Task 1 reads it when the answer is there (answered).
 *
 * With TAUTOCHRONE_USER task 2 is a thread in user space, and `received` its own reading of the same clock.
 */
#include "session.h"

#include <linux/bitops.h>
#include <linux/delay.h>

static const struct channel_kind *const kinds[TAUTOCHRONE_MECHANISMS] = {
	[TAUTOCHRONE_SEMAPHORE] = &channel_semaphore,
	[TAUTOCHRONE_COMPLETION] = &channel_completion,
	[TAUTOCHRONE_FIFO] = &channel_fifo,
	[TAUTOCHRONE_MESSAGE] = &channel_mailbox,
	[TAUTOCHRONE_USER] = &channel_fifo,
};

/*
 * A user thread of the experiment before may not have left RECEIVE or ANSWER yet: it was woken, or does not wait, and
 * finds its channel closed. One that comes now is refused until the channels are empty.
 */
static void prepare(struct session *session)
{
	while (test_and_set_bit_lock(0, &session->guest))
		msleep(1);
	session->kind = kinds[session->setup.mechanism];
	session->owes_answer = false;
	channel_reset(&session->there);
	channel_reset(&session->back);
	clear_bit_unlock(0, &session->guest);
}

static void stop(struct session *session)
{
	channel_close(&session->there);
	channel_close(&session->back);
}

/* Between the readings lie the calls and the readings themselves. */
static int exchange(struct session *session, s64 *instants)
{
	s64 message = session->schedule.release;
	int error;

	instants[TAUTOCHRONE_BEFORE] = ktime_get();
	error = session->kind->send(&session->there, message);
	instants[TAUTOCHRONE_AFTER] = ktime_get();
	if (!error)
		error = session->kind->receive(&session->back, &message);
	instants[TAUTOCHRONE_ANSWERED] = ktime_get();
	instants[TAUTOCHRONE_RECEIVED] = READ_ONCE(session->received_ns);
	return error;
}

static void task_1(struct session *session)
{
	struct schedule *schedule = &session->schedule;

	while (schedule_goes_on(schedule) && !session_stopping(session)) {
		s64 instants[TAUTOCHRONE_INSTANTS] = { [TAUTOCHRONE_RELEASE] = schedule->scheduled_ns };

		if (session_wait(session) < schedule->scheduled_ns || exchange(session, instants))
			break;
		session_record(session, instants, ARRAY_SIZE(instants));
		schedule_next(schedule, &session->books, ktime_get());
	}
	stop(session); /* task 2 has nothing more to wait for */
}

static void task_2(struct session *session)
{
	s64 message = 0;

	while (!session->kind->receive(&session->there, &message)) {
		WRITE_ONCE(session->received_ns, ktime_get());
		if (session->kind->send(&session->back, message))
			break;
	}
}

const struct measure measure_response = {
	.prepare = prepare, .task_1 = task_1, .task_2 = task_2, .stop = stop,
};

/* What a user thread does here it does alone, and not while the channels are made ready. */
static int enter(struct session *session)
{
	if (test_and_set_bit_lock(0, &session->guest))
		return -EBUSY;
	if (READ_ONCE(session->setup.mechanism) == TAUTOCHRONE_USER)
		return 0;
	clear_bit_unlock(0, &session->guest);
	return -EINVAL;
}

int response_user_receive(struct session *session, s64 *number)
{
	int error = enter(session);

	if (error)
		return error;
	error = channel_fifo.receive(&session->there, number);
	if (!error)
		session->owes_answer = true;
	clear_bit_unlock(0, &session->guest);
	return error;
}

int response_user_answer(struct session *session, s64 received_ns)
{
	int error = enter(session);

	if (error)
		return error;
	error = -EINVAL;
	if (session->owes_answer) {
		session->owes_answer = false;
		WRITE_ONCE(session->received_ns, received_ns);
		error = channel_fifo.send(&session->back, 0);
	}
	clear_bit_unlock(0, &session->guest);
	return error;
}
