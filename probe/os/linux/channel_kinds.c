/* The channels of Linux: those of POSIX, and its own. */
#include "os/posix/channel_kinds.h"

const struct os_channel_kind *const os_channel_kinds[] = {
    &channel_semaphore, &channel_fifo, &channel_pipe, &channel_message_queue, &channel_unix, &channel_udp,
    &channel_eventfd,   &channel_futex, &channel_signal, &channel_condition, NULL,
};
