/* The channels of RTAI: its own, and why those of Linux are none of its real-time side. */
#include "os/core/channels.h"

#define LEAVES "it is Linux's: who waits for it becomes soft"

static const struct os_channel_kind fifo = OF_LINUX("fifo", "named FIFO: write and read", LEAVES);
static const struct os_channel_kind pipe_pair = OF_LINUX("pipe", "pipe: write and read", LEAVES);
static const struct os_channel_kind unix_pair = OF_LINUX("unix", "pair of Unix datagram sockets: send and recv", LEAVES);
static const struct os_channel_kind udp = OF_LINUX("udp", "UDP over the loopback: send and recv", LEAVES);
static const struct os_channel_kind eventfd_pair = OF_LINUX("eventfd", "eventfd: write and read", LEAVES);
static const struct os_channel_kind futex = OF_LINUX("futex", "bare futex: FUTEX_WAKE and FUTEX_WAIT", LEAVES);
static const struct os_channel_kind of_signal = OF_LINUX("signal", "signal to a thread: pthread_kill and sigwaitinfo", LEAVES);

const struct os_channel_kind *const os_channel_kinds[] = {
    &core_semaphore, &fifo, &pipe_pair, &core_message_queue, &unix_pair, &udp, &eventfd_pair, &futex, &of_signal, &core_condition, NULL,
};
