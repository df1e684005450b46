/* What all channels share: the messages' memory, the first message. */
#include "os/channel.h"

#include <stdlib.h>
#include <string.h>

size_t os_channel_most_bytes(const struct os_channel_kind *kind, const char **how_to_raise)
{
    *how_to_raise = "";
    return kind->most_bytes != NULL ? kind->most_bytes(how_to_raise) : 0;
}

/* Touched by writing, so that no measuring thread faults on them. */
static enum os_status allocate_messages(struct os_channel *channel)
{
    channel->outgoing = malloc(channel->message_bytes);
    channel->incoming = malloc(channel->message_bytes);
    if (channel->outgoing == NULL || channel->incoming == NULL) {
        return OS_NO_MEMORY;
    }
    memset(channel->outgoing, 0, channel->message_bytes);
    memset(channel->incoming, 0, channel->message_bytes);
    return OS_OK;
}

static void free_channel(struct os_channel *channel)
{
    free(channel->outgoing);
    free(channel->incoming);
    free(channel);
}

static enum os_status try_out(struct os_channel *channel)
{
    const enum os_status status = channel->send(channel);
    return status == OS_OK ? channel->receive(channel) : status;
}

enum os_status os_channel_create(struct os_channel **channel, const struct os_channel_kind *kind, size_t message_bytes,
                                 const char **why)
{
    *why = "";
    if (kind->leaves_realtime != NULL) {
        *why = kind->leaves_realtime;
        return OS_UNSUPPORTED;
    }
    struct os_channel *const made = calloc(1, kind->size);
    if (made == NULL) {
        *why = os_status_text(OS_NO_MEMORY);
        return OS_NO_MEMORY;
    }
    made->kind = kind;
    enum os_status status = OS_OK;
    if (kind->most_bytes != NULL) {
        made->message_bytes = message_bytes;
        status = allocate_messages(made);
    }
    if (status == OS_OK) {
        status = kind->open(made, why);
        if (status == OS_OK && kind->bind_receiver == NULL) {
            status = try_out(made);
        }
        if (status != OS_OK) {
            kind->close(made);
        }
    }
    if (status != OS_OK) {
        free_channel(made);
        *why = **why != '\0' ? *why : os_status_text(status);
        return status;
    }
    *channel = made;
    return OS_OK;
}

void os_channel_destroy(struct os_channel *channel)
{
    if (channel != NULL) {
        channel->kind->close(channel);
        free_channel(channel);
    }
}

void os_channel_bind_receiver(struct os_channel *channel)
{
    if (channel->kind->bind_receiver != NULL) {
        channel->kind->bind_receiver(channel);
    }
}
