/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What one open file of the device has: one experiment at a time, its threads, its buffer and its books. */
#ifndef TAUTOCHRONE_SESSION_H
#define TAUTOCHRONE_SESSION_H

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "channel.h"
#include "ring.h"
#include "schedule.h"
#include "tautochrone.h"

struct session;

struct task {
	struct session *session;
	struct task_struct *thread;	/* NULL: there is none */
	void (*act)(struct session *session);
};

/* Its parts beyond `lock` belong to who holds it, and while the threads run to them. */
struct session {
	struct mutex lock;
	struct tautochrone_setup setup;
	const struct measure *measure;	/* NULL: nothing is set up */
	struct task tasks[2];
	struct completion go;		/* START, or STOP before it */
	bool started;
	bool stopping;			/* asked by the user; the tasks look at it */
	bool ended;			/* set by task 1 as its last act: books and ring are final */

	/* Of task 1. */
	struct schedule schedule;
	struct tautochrone_books books;
	struct ring ring;

	/* Of `interrupt`. */
	struct hrtimer timer;
	bool expired;
	ktime_t handler;

	/* Of `response`. */
	const struct channel_kind *kind;
	struct channel there;
	struct channel back;
	s64 received_ns;
	unsigned long guest;		/* bit 0: a user thread, or SETUP, has the channels */
	bool owes_answer;		/* of who has that bit */
};

struct measure {
	/* Called once for each experiment, before its threads are made. May be NULL. */
	void (*prepare)(struct session *session);
	void (*task_1)(struct session *session);
	void (*task_2)(struct session *session);
	/* After `stopping` was set: whoever waits goes on. May be NULL. */
	void (*stop)(struct session *session);
};

extern const struct measure measure_interrupt;
extern const struct measure measure_period;
extern const struct measure measure_response;

struct session *session_open(void);
void session_close(struct session *session);

/* The ioctls; the caller holds `lock`, but for receive and answer, which wait or are measured. */
int session_set_up(struct session *session, struct tautochrone_setup *setup);
int session_start(struct session *session);
void session_stop(struct session *session);
void session_books(struct session *session, struct tautochrone_books *books);
int response_user_receive(struct session *session, s64 *number);
int response_user_answer(struct session *session, s64 received_ns);

/* Of no experiment: keeps the CPU of the caller. */
int hold_cpu(struct tautochrone_hold *hold);

static inline bool session_stopping(const struct session *session)
{
	return READ_ONCE(session->stopping);
}

/* The release that was served just now; those below 0 are warm-up. After the measured interval. */
void session_record(struct session *session, const s64 *instants, unsigned int count);

/*
 * Sleeps until the schedule's next release. The first reading of the clock after it; before the release only if the
 * experiment is to stop.
 */
s64 session_wait(struct session *session);

#endif
