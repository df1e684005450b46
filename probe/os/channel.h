/*
 * Ways in which one thread wakes another, or tells it something: one direction each, one sender, one receiver. All of
 * them look alike, so that a measuring loop makes one indirect call into code that knows its mechanism.
 *
 * Which kinds there are is up to the port, which registers them in os_channel_kinds.
 *
 * At most two messages may be under way in a channel. Nothing of a channel is left in the system when it is destroyed,
 * or when the process ends. (Killed in the very moment in which a FIFO or message queue is made, it may leave a name:
 * the FIFO's goes when the next process makes one.)
 */
#ifndef TAUTO_OS_CHANNEL_H
#define TAUTO_OS_CHANNEL_H

#include "os/os.h"

struct os_channel;
struct os_channel_kind;
typedef enum os_status (*os_channel_call)(struct os_channel *channel);

struct os_channel {
    os_channel_call send;
    os_channel_call receive;
    unsigned char *outgoing; /* what is sent; the sender's. NULL where nothing is carried */
    unsigned char *incoming; /* what was received; the receiver's */
    size_t message_bytes;
    const struct os_channel_kind *kind;
};

/* ---- Real-time side ---------------------------------------------------------- */

/* The calling thread will receive. It must say so before anything is sent. */
void os_channel_bind_receiver(struct os_channel *channel);

/* Whole messages or nothing. */
static inline enum os_status os_channel_send(struct os_channel *channel)
{
    return channel->send(channel);
}

/* Blocks until something was sent. OS_INTERRUPTED when os_thread_interrupt or a signal ended the wait early, or nothing
 * is told (a condition variable knows no interruption). OS_TIMED_OUT where messages can get lost, or where threads can't
 * be interrupted, and none came for a second. */
static inline enum os_status os_channel_receive(struct os_channel *channel)
{
    return channel->receive(channel);
}

/* ---- Ordinary side ----------------------------------------------------------- */

/* What a port says of a kind of channel. */
struct os_channel_kind {
    const char *name;
    const char *what; /* in words, for people */
    /* Why a real-time thread that uses it leaves the real-time domain of this system (OS_NOT_REALTIME); such a channel is
     * not made. NULL: it stays there, or there is one domain only. */
    const char *leaves_realtime;
    /* os_channel_create allocates `size` bytes for the channel and the kind's own, of which struct os_channel is the
     * first member; `open` makes what the system has to make, and tells why not; `close` undoes it, also half of it. */
    size_t size;
    enum os_status (*open)(struct os_channel *channel, const char **why);
    void (*close)(struct os_channel *channel);
    void (*bind_receiver)(struct os_channel *channel); /* NULL: needs none, and can be tried by its maker */
    size_t (*most_bytes)(const char **how_to_raise);   /* NULL: carries nothing, only wakes */
};

/* Those of this system, in the order in which a table shows them; NULL ends them. */
extern const struct os_channel_kind *const os_channel_kinds[];

/* The largest message that the system takes from this user, 0 where nothing is carried; `how_to_raise` is a sentence
 * for people. Before measuring only. */
size_t os_channel_most_bytes(const struct os_channel_kind *kind, const char **how_to_raise);

/* Makes a channel for messages of `message_bytes` (at least 1, of no consequence where nothing is carried), and sends a
 * message to itself where that is possible: so what the system does only at the first use is done. When it can't,
 * `why` is a few words for people that stay valid.
 * OS_UNSUPPORTED: this system has none for real-time threads. OS_INVALID: the message is too large. OS_NOT_PERMITTED,
 * OS_NO_MEMORY. */
enum os_status os_channel_create(struct os_channel **channel, const struct os_channel_kind *kind, size_t message_bytes,
                                 const char **why);
void os_channel_destroy(struct os_channel *channel);

#endif
