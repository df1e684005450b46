// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "channel.h"

#include <linux/sched.h>

/* Waits are interruptible, so that they neither count as load nor as hung; signals reach user threads only. */

static int is_open(const struct channel *channel)
{
	return READ_ONCE(channel->closed) ? -EPIPE : 0;
}

static int semaphore_send(struct channel *channel, s64 message)
{
	up(&channel->semaphore);
	return 0;
}

static int semaphore_receive(struct channel *channel, s64 *message)
{
	return down_interruptible(&channel->semaphore) ? -ERESTARTSYS : is_open(channel);
}

const struct channel_kind channel_semaphore = { .send = semaphore_send, .receive = semaphore_receive };

static int completion_send(struct channel *channel, s64 message)
{
	complete(&channel->completion);
	return 0;
}

static int completion_receive(struct channel *channel, s64 *message)
{
	return wait_for_completion_interruptible(&channel->completion) ? -ERESTARTSYS : is_open(channel);
}

const struct channel_kind channel_completion = { .send = completion_send, .receive = completion_receive };

/* One sender and one receiver need no lock; a sender that finds it full has no receiver that answers. */
static int fifo_send(struct channel *channel, s64 message)
{
	if (!kfifo_put(&channel->fifo, message))
		return -EPIPE;
	wake_up_interruptible(&channel->receivers);
	return 0;
}

static int fifo_receive(struct channel *channel, s64 *message)
{
	int error = wait_event_interruptible(channel->receivers,
					     !kfifo_is_empty(&channel->fifo) || READ_ONCE(channel->closed));

	if (error)
		return error;
	return kfifo_get(&channel->fifo, message) ? is_open(channel) : -EPIPE;
}

const struct channel_kind channel_fifo = { .send = fifo_send, .receive = fifo_receive };

static bool mailbox_put(struct mailbox *mailbox, s64 message)
{
	bool put = false;

	rt_mutex_lock(&mailbox->guard);
	if (mailbox->count < CHANNEL_MESSAGES) {
		mailbox->messages[(mailbox->first + mailbox->count) % CHANNEL_MESSAGES] = message;
		WRITE_ONCE(mailbox->count, mailbox->count + 1);
		put = true;
	}
	rt_mutex_unlock(&mailbox->guard);
	return put;
}

static bool mailbox_take(struct mailbox *mailbox, s64 *message)
{
	bool taken = false;

	rt_mutex_lock(&mailbox->guard);
	if (mailbox->count) {
		*message = mailbox->messages[mailbox->first];
		mailbox->first = (mailbox->first + 1) % CHANNEL_MESSAGES;
		WRITE_ONCE(mailbox->count, mailbox->count - 1);
		taken = true;
	}
	rt_mutex_unlock(&mailbox->guard);
	return taken;
}

static int mailbox_send(struct channel *channel, s64 message)
{
	struct mailbox *mailbox = &channel->mailbox;

	while (!mailbox_put(mailbox, message)) {
		int error = wait_event_interruptible(mailbox->senders,
						     READ_ONCE(mailbox->count) < CHANNEL_MESSAGES ||
						     READ_ONCE(channel->closed));

		if (!error)
			error = is_open(channel);
		if (error)
			return error;
	}
	wake_up_interruptible(&mailbox->receivers);
	return 0;
}

static int mailbox_receive(struct channel *channel, s64 *message)
{
	struct mailbox *mailbox = &channel->mailbox;

	do {
		int error = wait_event_interruptible(mailbox->receivers,
						     READ_ONCE(mailbox->count) || READ_ONCE(channel->closed));

		if (!error)
			error = is_open(channel);
		if (error)
			return error;
	} while (!mailbox_take(mailbox, message));
	wake_up_interruptible(&mailbox->senders);
	return 0;
}

const struct channel_kind channel_mailbox = { .send = mailbox_send, .receive = mailbox_receive };

void channel_create(struct channel *channel)
{
	INIT_KFIFO(channel->fifo);
	init_waitqueue_head(&channel->receivers);
	rt_mutex_init(&channel->mailbox.guard);
	init_waitqueue_head(&channel->mailbox.senders);
	init_waitqueue_head(&channel->mailbox.receivers);
	sema_init(&channel->semaphore, 0);
	init_completion(&channel->completion);
	channel->closed = true;
}

void channel_reset(struct channel *channel)
{
	sema_init(&channel->semaphore, 0);
	reinit_completion(&channel->completion);
	kfifo_reset(&channel->fifo);
	channel->mailbox.count = 0;
	WRITE_ONCE(channel->closed, false);
}

void channel_close(struct channel *channel)
{
	WRITE_ONCE(channel->closed, true);
	up(&channel->semaphore);
	complete_all(&channel->completion);
	wake_up_interruptible_all(&channel->receivers);
	wake_up_interruptible_all(&channel->mailbox.senders);
	wake_up_interruptible_all(&channel->mailbox.receivers);
}
