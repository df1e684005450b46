/* What channel.c knows of each kind of channel; one file implements one family of them. */
#ifndef TAUTO_POSIX_CHANNEL_KINDS_H
#define TAUTO_POSIX_CHANNEL_KINDS_H

#include "os/channel.h"

struct channel_kind {
    const char *name;
    const char *what;
    /* Allocates `size` bytes for the channel and its own, of which struct os_channel is the first member; `open` makes
     * what the system has to make, and tells why not; `close` undoes it, also half of it. */
    size_t size;
    enum os_status (*open)(struct os_channel *channel, const char **why);
    void (*close)(struct os_channel *channel);
    void (*bind_receiver)(struct os_channel *channel);   /* NULL: needs none, and can be tried by its maker */
    size_t (*most_bytes)(const char **how_to_raise);     /* NULL: carries nothing */
};

extern const struct channel_kind channel_semaphore;
extern const struct channel_kind channel_fifo;
extern const struct channel_kind channel_pipe;
extern const struct channel_kind channel_message_queue;
extern const struct channel_kind channel_unix;
extern const struct channel_kind channel_udp;
extern const struct channel_kind channel_eventfd;
extern const struct channel_kind channel_futex;
extern const struct channel_kind channel_signal;
extern const struct channel_kind channel_condition;

/* Of a call that failed while sending or receiving. */
enum os_status channel_failure(int error);

/* Channels over file descriptors. */
struct channel_ends {
    struct os_channel base;
    int out;
    int in;
};
void channel_ends_close(struct os_channel *channel);

/* A whole number in a file of /proc, `otherwise` where it can't be read. */
size_t channel_read_limit(const char *path, size_t otherwise);

#endif
