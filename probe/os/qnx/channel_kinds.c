/* The channels of QNX: those of POSIX, and its own, which POSIX's are made of: messages and pulses. */
#include "os/posix/channel_kinds.h"

#include "os/core/channels.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/neutrino.h>
#include <time.h>

enum { THIS_NODE = 0, THIS_PROCESS = 0, PRIORITY_OF_SENDER = -1, MOST_BYTES = 1 << 20 };

struct channel_of_qnx {
    struct os_channel base;
    int channel;
    int connection;
};

static enum os_status open_both(struct os_channel *channel)
{
    struct channel_of_qnx *const own = (struct channel_of_qnx *)channel;
    own->connection = -1;
    own->channel = ChannelCreate(0);
    if (own->channel == -1) {
        return channel_failure(errno);
    }
    own->connection = ConnectAttach(THIS_NODE, THIS_PROCESS, own->channel, _NTO_SIDE_CHANNEL, 0);
    return own->connection != -1 ? OS_OK : channel_failure(errno);
}

static void close_both(struct os_channel *channel)
{
    const struct channel_of_qnx *const own = (const struct channel_of_qnx *)channel;
    if (own->connection != -1) {
        (void)ConnectDetach(own->connection);
    }
    if (own->channel != -1) {
        (void)ChannelDestroy(own->channel);
    }
}

/* ---- message ---- */

/* Not for ever: the receiver may have left, and the others have no such wait. */
static enum os_status message_send(struct os_channel *channel)
{
    static const uint64_t patience_ns = 1000000000;
    const int connection = ((struct channel_of_qnx *)channel)->connection;
    (void)TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_SEND, NULL, &patience_ns, NULL);
    return MsgSend(connection, channel->outgoing, (int)channel->message_bytes, NULL, 0) != -1 ? OS_OK : channel_failure(errno);
}

/* The answer comes first of all, for the sender waits for it. */
static enum os_status message_receive(struct os_channel *channel)
{
    const int own = ((struct channel_of_qnx *)channel)->channel;
    const int sender = MsgReceive(own, channel->incoming, (int)channel->message_bytes, NULL);
    return sender > 0 && MsgReply(sender, 0, NULL, 0) != -1 ? OS_OK : channel_failure(errno);
}

static enum os_status message_open(struct os_channel *channel, const char **why)
{
    (void)why;
    channel->send = message_send;
    channel->receive = message_receive;
    return open_both(channel);
}

static size_t most_bytes(const char **how_to_raise)
{
    *how_to_raise = "The probe has no more.";
    return MOST_BYTES;
}

static const struct os_channel_kind message = {
    .name = "message",
    .what = "message of QNX: TimerTimeout, MsgSend, MsgReceive, MsgReply",
    .size = sizeof(struct channel_of_qnx),
    .open = message_open,
    .close = close_both,
    .bind_receiver = core_bind_nobody, /* its maker would wait for itself */
    .most_bytes = most_bytes,
};

/* ---- pulse ---- */

static enum os_status pulse_send(struct os_channel *channel)
{
    const int connection = ((struct channel_of_qnx *)channel)->connection;
    return MsgSendPulse(connection, PRIORITY_OF_SENDER, _PULSE_CODE_MINAVAIL, 0) != -1 ? OS_OK : channel_failure(errno);
}

static enum os_status pulse_receive(struct os_channel *channel)
{
    struct _pulse pulse;
    const int got = MsgReceivePulse(((struct channel_of_qnx *)channel)->channel, &pulse, (int)sizeof pulse, NULL);
    return got != -1 ? OS_OK : channel_failure(errno);
}

static enum os_status pulse_open(struct os_channel *channel, const char **why)
{
    (void)why;
    channel->send = pulse_send;
    channel->receive = pulse_receive;
    return open_both(channel);
}

static const struct os_channel_kind pulse = {
    .name = "pulse",
    .what = "pulse of QNX: MsgSendPulse and MsgReceivePulse",
    .size = sizeof(struct channel_of_qnx),
    .open = pulse_open,
    .close = close_both,
};

const struct os_channel_kind *const os_channel_kinds[] = {
    &channel_semaphore, &message,        &pulse,       &channel_fifo,      &channel_pipe, &channel_message_queue,
    &channel_unix,      &channel_signal, &channel_udp, &channel_condition, NULL,
};
