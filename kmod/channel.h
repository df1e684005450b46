/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The ways in which one task hands a message of eight bytes to another, or only wakes it: one sender, one receiver. */
#ifndef TAUTOCHRONE_CHANNEL_H
#define TAUTOCHRONE_CHANNEL_H

#include <linux/completion.h>
#include <linux/kfifo.h>
#include <linux/rtmutex.h>
#include <linux/semaphore.h>
#include <linux/wait.h>

#define CHANNEL_MESSAGES	4	/* a power of two */

struct mailbox {
	struct rt_mutex guard;
	s64 messages[CHANNEL_MESSAGES];
	unsigned int first;
	unsigned int count;
	wait_queue_head_t senders;
	wait_queue_head_t receivers;
};

/* One of each kind, so that nothing has to be made anew while somebody may still look at it. */
struct channel {
	bool closed;
	struct semaphore semaphore;
	struct completion completion;
	DECLARE_KFIFO(fifo, s64, CHANNEL_MESSAGES);
	wait_queue_head_t receivers;	/* of the fifo */
	struct mailbox mailbox;
};

struct channel_kind {
	/* 0; -EPIPE: it was closed; -ERESTARTSYS: a signal came, in user threads only. */
	int (*send)(struct channel *channel, s64 message);
	int (*receive)(struct channel *channel, s64 *message);
};

extern const struct channel_kind channel_semaphore;
extern const struct channel_kind channel_completion;
extern const struct channel_kind channel_fifo;
extern const struct channel_kind channel_mailbox;

/* Once. */
void channel_create(struct channel *channel);
/* Empty and open; nobody uses it meanwhile. */
void channel_reset(struct channel *channel);
/* Whoever waits, or comes to wait, leaves with -EPIPE. */
void channel_close(struct channel *channel);

#endif
