/* The channels of systems whose locks are not POSIX's (channels.c). */
#ifndef TAUTO_CORE_CHANNELS_H
#define TAUTO_CORE_CHANNELS_H

#include "os/channel.h"

extern const struct os_channel_kind core_semaphore;
extern const struct os_channel_kind core_condition;
extern const struct os_channel_kind core_message_queue; /* queue_channel.c */

/* For a channel that its maker can't try: os_channel_kind.bind_receiver. */
void core_bind_nobody(struct os_channel *channel);

/* Those of Linux, which are none of a core's real-time side. */
#define OF_LINUX(NAME, WHAT, LEAVES) {.name = (NAME), .what = (WHAT), .leaves_realtime = (LEAVES)}

#endif
