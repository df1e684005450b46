/* The channels of Cobalt: those of POSIX that it has, and why the others of Linux are none of its real-time side. */
#include "os/core/channels.h"
#include "os/posix/channel_kinds.h"

/* Cobalt passes these calls on to Linux. */
#define LEAVES "it is Linux's: who waits for it leaves primary mode"

static const struct os_channel_kind fifo = OF_LINUX("fifo", "named FIFO: write and read", LEAVES);
static const struct os_channel_kind pipe_pair = OF_LINUX("pipe", "pipe: write and read", LEAVES);
static const struct os_channel_kind unix_pair = OF_LINUX("unix", "pair of Unix datagram sockets: send and recv", LEAVES);
static const struct os_channel_kind udp = OF_LINUX("udp", "UDP over the loopback: send and recv", LEAVES);
static const struct os_channel_kind eventfd = OF_LINUX("eventfd", "eventfd: write and read", LEAVES);
static const struct os_channel_kind futex = OF_LINUX("futex", "bare futex: FUTEX_WAKE and FUTEX_WAIT", LEAVES);

const struct os_channel_kind *const os_channel_kinds[] = {
    &channel_semaphore, &fifo, &pipe_pair, &channel_message_queue, &unix_pair, &udp,
    &eventfd,           &futex, &channel_signal, &channel_condition, NULL,
};
