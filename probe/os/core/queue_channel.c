/* A channel over the message queue that os.h has, where that is the system's own. */
#include "channels.h"

enum { DEPTH = 2, MOST_BYTES = 1 << 16 };

struct channel_of_queue {
    struct os_channel base;
    struct os_message_queue *queue;
};

static enum os_status queue_send(struct os_channel *channel)
{
    return os_message_queue_send(((struct channel_of_queue *)channel)->queue, channel->outgoing, channel->message_bytes);
}

static enum os_status queue_receive(struct os_channel *channel)
{
    return os_message_queue_receive(((struct channel_of_queue *)channel)->queue, channel->incoming, NULL);
}

static enum os_status queue_open(struct os_channel *channel, const char **why)
{
    (void)why;
    channel->send = queue_send;
    channel->receive = queue_receive;
    return os_message_queue_create(&((struct channel_of_queue *)channel)->queue, DEPTH, channel->message_bytes);
}

static void queue_close(struct os_channel *channel)
{
    os_message_queue_destroy(((struct channel_of_queue *)channel)->queue);
}

static size_t most_bytes(const char **how_to_raise)
{
    *how_to_raise = "The probe has no more.";
    return MOST_BYTES;
}

const struct os_channel_kind core_message_queue = {
    .name = "message-queue",
    .what = "message queue of this system's own (RTAI: a mailbox)",
    .size = sizeof(struct channel_of_queue),
    .open = queue_open,
    .close = queue_close,
    .bind_receiver = core_bind_nobody,
    .most_bytes = most_bytes,
};
