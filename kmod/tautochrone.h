/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernel-space half of Tautochrone's probe: what it and the user-space half say to each other, over
 * /dev/tautochrone.
 *
 * One user at a time; whoever opens it needs CAP_SYS_ADMIN. SETUP checks everything and makes the threads, START lets
 * them go, read() takes the records out, BOOKS tells what became of all releases. Closing the file ends everything.
 *
 * All instants are readings of CLOCK_MONOTONIC in nanoseconds.
 */
#ifndef TAUTOCHRONE_H
#define TAUTOCHRONE_H

#ifdef __KERNEL__
#include <linux/ioctl.h>
#include <linux/types.h>
#else
#include <stdint.h>
#include <sys/ioctl.h>
#endif

#define TAUTOCHRONE_DEVICE	"/dev/tautochrone"
#define TAUTOCHRONE_VERSION	1

/* What is measured, and what the instants of a record are. Release k is start + k * period. */
enum tautochrone_measure {
	/* scheduled, wake (t2), handler (t1): a timer's handler, and the thread that it wakes */
	TAUTOCHRONE_INTERRUPT,
	/* scheduled, expected (the previous start + period), wake: a periodic thread */
	TAUTOCHRONE_PERIOD,
	/* before, after, received, answered, scheduled: task 1 sends, task 2 receives and answers */
	TAUTOCHRONE_RESPONSE,
	TAUTOCHRONE_MEASURES
};

enum tautochrone_instant {
	TAUTOCHRONE_SCHEDULED = 0, TAUTOCHRONE_WAKE = 1, TAUTOCHRONE_HANDLER = 2,
	TAUTOCHRONE_PERIOD_EXPECTED = 1, TAUTOCHRONE_PERIOD_WAKE = 2,
	TAUTOCHRONE_BEFORE = 0, TAUTOCHRONE_AFTER = 1, TAUTOCHRONE_RECEIVED = 2, TAUTOCHRONE_ANSWERED = 3,
	TAUTOCHRONE_RELEASE = 4,
	TAUTOCHRONE_INSTANTS = 5
};

/* How task 1 and task 2 of a response reach each other; one channel there, another of the same kind back. */
enum tautochrone_mechanism {
	TAUTOCHRONE_SEMAPHORE,	/* up() and down() */
	TAUTOCHRONE_COMPLETION,	/* complete() and wait_for_completion() */
	TAUTOCHRONE_FIFO,	/* a kfifo and a wait queue */
	TAUTOCHRONE_MESSAGE,	/* a mailbox: messages under an rt_mutex, senders and receivers wait in queues */
	TAUTOCHRONE_USER,	/* as FIFO, but task 2 is a thread in user space: RECEIVE and ANSWER */
	TAUTOCHRONE_MECHANISMS
};

/* The expiry of the timer (of INTERRUPT) is handled as a soft interrupt. */
#define TAUTOCHRONE_SOFT	1u

struct tautochrone_task {
	int32_t cpu;
	int32_t priority;	/* of SCHED_FIFO, 1 to 99 */
	int32_t policy;		/* out only: SCHED_* */
	int32_t pid;		/* out only; 0 where the task is not the module's own */
};

/* Wanted; on return `tasks` holds what was obtained. */
struct tautochrone_setup {
	uint32_t version;	/* TAUTOCHRONE_VERSION */
	uint32_t measure;	/* enum tautochrone_measure */
	uint32_t mechanism;	/* enum tautochrone_mechanism; 0 where there is no response */
	uint32_t flags;
	int64_t period_ns;	/* 20 us to 1 h */
	int64_t count;		/* releases that are recorded */
	int64_t warmup;		/* releases before those */
	uint32_t rows;		/* records that the buffer holds */
	uint32_t reserved;	/* 0 */
	struct tautochrone_task tasks[2]; /* task 1, task 2: the second is a response's */
};

/* `k` is the number of the release, from 0. */
struct tautochrone_record {
	int64_t k;
	int64_t instants[TAUTOCHRONE_INSTANTS];
};

/* Final once `ended`. Then released = completed + missed, and completed = recorded + dropped. */
struct tautochrone_books {
	uint64_t released;	/* after the warm-up and before the end */
	uint64_t completed;
	uint64_t missed;	/* skipped: the task was still late from an earlier release */
	uint64_t overruns;	/* completed, but only when the next release was there */
	uint64_t warmup;
	uint64_t recorded;
	uint64_t dropped;	/* the buffer was full */
	int64_t cpu_time_ns;	/* of task 1 */
	uint32_t ended;
	uint32_t reserved;
};

/* What HOLD forbids meanwhile. */
enum tautochrone_held {
	TAUTOCHRONE_PREEMPTION_OFF,
	TAUTOCHRONE_INTERRUPTS_OFF,
	TAUTOCHRONE_HOLDS
};

#define TAUTOCHRONE_LONGEST_HOLD_NS	10000000LL

struct tautochrone_hold {
	uint32_t what;		/* enum tautochrone_held */
	uint32_t reserved;	/* 0 */
	int64_t length_ns;	/* at most TAUTOCHRONE_LONGEST_HOLD_NS */
	int64_t begin_ns;	/* out only, as is the end */
	int64_t end_ns;
};

/*
 * SETUP	EPROTONOSUPPORT another version; EINVAL, ERANGE a value; ENODEV no such CPU on line; ENOMEM; EBUSY running
 * START	EINVAL nothing is set up, or it was started already
 * STOP		ends what runs; what was recorded stays
 * RECEIVE	task 2 of USER: waits for the next message, then gives its number; EPIPE the experiment is over
 * ANSWER	task 2 of USER: when RECEIVE returned, by its own clock; EINVAL nothing was received
 *		Both: EBUSY another thread is in one of them, or in SETUP. SETUP waits until who is in one has left it.
 * HOLD		keeps the CPU for so long, whatever else there is to do; EINVAL, ERANGE a value
 *
 * read() gives whole records and never waits: EAGAIN none is there yet, 0 the experiment is over and all are read.
 */
#define TAUTOCHRONE_SETUP	_IOWR('T', 0xe0, struct tautochrone_setup)
#define TAUTOCHRONE_START	_IO('T', 0xe1)
#define TAUTOCHRONE_STOP	_IO('T', 0xe2)
#define TAUTOCHRONE_BOOKS	_IOR('T', 0xe3, struct tautochrone_books)
#define TAUTOCHRONE_RECEIVE	_IOR('T', 0xe4, int64_t)
#define TAUTOCHRONE_ANSWER	_IOW('T', 0xe5, int64_t)
#define TAUTOCHRONE_HOLD	_IOWR('T', 0xe6, struct tautochrone_hold)

#endif
