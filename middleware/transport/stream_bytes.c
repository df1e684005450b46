/* See stream_bytes.h. */
#include "transport/stream_bytes.h"

#include "transport/interruption.h"
#include "transport/sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { EAGER_BYTES = 65536 };

enum os_status stream_bytes_reserve(struct stream_bytes *stream, size_t bytes)
{
    const size_t least = stream->eager && bytes < EAGER_BYTES ? EAGER_BYTES : bytes;
    if (least <= stream->room) {
        return OS_OK;
    }
    uint8_t *const larger = realloc(stream->buffer, least);
    if (larger == NULL) {
        return OS_NO_MEMORY;
    }
    stream->buffer = larger;
    stream->room = least;
    return OS_OK;
}

void stream_bytes_free(struct stream_bytes *stream)
{
    free(stream->buffer);
    stream->buffer = NULL;
    stream->room = 0;
}

/* So many bytes from `begin` on fit: what is there moves to the front, or the room grows. */
static enum os_status make_room(struct stream_bytes *stream, size_t bytes)
{
    if (stream->begin == stream->end) {
        stream->begin = 0;
        stream->end = 0;
    }
    if (bytes > stream->room - stream->begin && stream->begin > 0) {
        memmove(stream->buffer, stream->buffer + stream->begin, stream->end - stream->begin);
        stream->end -= stream->begin;
        stream->begin = 0;
    }
    return stream_bytes_reserve(stream, bytes);
}

/* Until there are `bytes` from `begin` on. */
static enum os_status fill(struct stream_bytes *stream, size_t bytes)
{
    if (stream->end - stream->begin >= bytes) {
        return OS_OK;
    }
    struct interruption interruption = {.patience_ns = stream->patience_ns};
    enum os_status status = make_room(stream, bytes);
    while (status == OS_OK && stream->end - stream->begin < bytes) {
        /* Of what has begun, the rest comes at once: woken up only when it is all there. */
        const bool waits = !stream->eager || stream->end > stream->begin;
        const size_t wanted = waits ? stream->begin + bytes - stream->end : stream->room - stream->end;
        const ssize_t received = recv(stream->file, stream->buffer + stream->end, wanted, waits ? MSG_WAITALL : 0);
        if (received > 0) {
            stream->end += (size_t)received;
        } else if (received == 0) {
            status = OS_CLOSED;
        } else if (errno != EINTR) {
            status = socket_status(errno);
        } else if (interruption_ends_wait(&interruption)) {
            status = OS_TIMED_OUT;
        }
    }
    return status;
}

enum os_status stream_bytes_receive(struct stream_bytes *stream, size_t expected, struct frame *frame)
{
    enum os_status status = fill(stream, expected);
    uint32_t bytes = 0;
    enum frame_verdict verdict = FRAME_GOOD;
    if (status == OS_OK) {
        verdict = frame_begins(stream->buffer + stream->begin, &bytes);
    }
    if (status == OS_OK && verdict == FRAME_GOOD) {
        status = fill(stream, bytes);
    }
    if (status == OS_OK && verdict == FRAME_GOOD) {
        verdict = frame_read(stream->buffer + stream->begin, bytes, frame);
        stream->begin += bytes;
    }
    if (verdict != FRAME_GOOD) {
        return verdict == FRAME_FOREIGN ? OS_UNSUPPORTED : OS_INVALID;
    }
    return status;
}

void *stream_bytes_last(const struct stream_bytes *stream, const struct frame *frame)
{
    return stream->buffer + stream->begin - frame->bytes;
}

enum os_status stream_bytes_send(const struct stream_bytes *stream, const void *data, size_t bytes)
{
    struct interruption interruption = {.patience_ns = stream->patience_ns};
    size_t sent = 0;
    while (sent < bytes) {
        const ssize_t taken = send(stream->file, (const uint8_t *)data + sent, bytes - sent, MSG_NOSIGNAL);
        if (taken >= 0) {
            sent += (size_t)taken;
        } else if (errno != EINTR) {
            return socket_status(errno);
        } else if (interruption_ends_wait(&interruption)) {
            return OS_TIMED_OUT;
        }
    }
    return OS_OK;
}
