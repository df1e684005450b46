/* The kinds of channels that there are, and what their files share; one file implements one family of them. */
#ifndef TAUTO_POSIX_CHANNEL_KINDS_H
#define TAUTO_POSIX_CHANNEL_KINDS_H

#include "os/channel.h"

extern const struct os_channel_kind channel_semaphore;
extern const struct os_channel_kind channel_fifo;
extern const struct os_channel_kind channel_pipe;
extern const struct os_channel_kind channel_message_queue;
extern const struct os_channel_kind channel_unix;
extern const struct os_channel_kind channel_udp;
extern const struct os_channel_kind channel_signal;
extern const struct os_channel_kind channel_condition;
/* Linux alone has these. */
extern const struct os_channel_kind channel_eventfd;
extern const struct os_channel_kind channel_futex;

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
