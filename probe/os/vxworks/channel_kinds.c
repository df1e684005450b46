/* The channels of VxWorks: its own, and those of POSIX that a real-time process has. */
#include "os/posix/channel_kinds.h"

#include "os/core/channels.h"

const struct os_channel_kind *const os_channel_kinds[] = {
    &core_semaphore, &channel_pipe, &core_message_queue, &channel_udp, &channel_signal, &core_condition, NULL,
};
