/*
 * Ways in which one thread wakes another, or tells it something: one direction each, one sender, one receiver. All of
 * them look alike, so that a measuring loop makes one indirect call into code that knows its mechanism.
 *
 * At most two messages may be under way in a channel. Nothing of a channel is left in the system when it is destroyed,
 * or when the process ends. (Killed in the very moment in which a FIFO or message queue is made, it may leave a name:
 * the FIFO's goes when the next process makes one.)
 */
#ifndef TAUTO_OS_CHANNEL_H
#define TAUTO_OS_CHANNEL_H

#include "os/os.h"

enum os_channel_kind {
    OS_CHANNEL_SEMAPHORE,
    OS_CHANNEL_FIFO, /* named, in a private folder; both names are gone before the first message */
    OS_CHANNEL_PIPE,
    OS_CHANNEL_MESSAGE_QUEUE,
    OS_CHANNEL_UNIX, /* a connected pair of datagram sockets */
    OS_CHANNEL_UDP,  /* two sockets bound to the loopback address, connected to each other */
    OS_CHANNEL_EVENTFD,
    OS_CHANNEL_FUTEX,
    OS_CHANNEL_SIGNAL,    /* to the one thread that waits for it */
    OS_CHANNEL_CONDITION, /* a message in shared memory; mutex and condition variable beside it */
    OS_CHANNEL_KIND_COUNT,
};

const char *os_channel_name(enum os_channel_kind kind);
/* In words, for people. */
const char *os_channel_what(enum os_channel_kind kind);
/* The others only wake. */
bool os_channel_carries_data(enum os_channel_kind kind);
/* The largest message that the system takes from this user, 0 where nothing is carried; `how_to_raise` is a sentence
 * for people. Before measuring only. */
size_t os_channel_most_bytes(enum os_channel_kind kind, const char **how_to_raise);

struct os_channel;
typedef enum os_status (*os_channel_call)(struct os_channel *channel);

struct os_channel {
    os_channel_call send;
    os_channel_call receive;
    unsigned char *outgoing; /* what is sent; the sender's. NULL where nothing is carried */
    unsigned char *incoming; /* what was received; the receiver's */
    size_t message_bytes;
    enum os_channel_kind kind;
};

/* Makes a channel for messages of `message_bytes` (at least 1, of no consequence where nothing is carried), and sends a
 * message to itself where that is possible: so what the system does only at the first use is done. When it can't,
 * `why` is a few words for people that stay valid.
 * OS_UNSUPPORTED: this system has none. OS_INVALID: the message is too large. OS_NOT_PERMITTED, OS_NO_MEMORY. */
enum os_status os_channel_create(struct os_channel **channel, enum os_channel_kind kind, size_t message_bytes,
                                 const char **why);
void os_channel_destroy(struct os_channel *channel);
/* The calling thread will receive. It must say so before anything is sent. */
void os_channel_bind_receiver(struct os_channel *channel);

/* Whole messages or nothing. */
static inline enum os_status os_channel_send(struct os_channel *channel)
{
    return channel->send(channel);
}

/* Blocks until something was sent. OS_INTERRUPTED when os_thread_interrupt or a signal ended the wait early, or nothing
 * is told (a condition variable knows no interruption). OS_TIMED_OUT where messages can get lost and none came for a
 * second. */
static inline enum os_status os_channel_receive(struct os_channel *channel)
{
    return channel->receive(channel);
}

#endif
