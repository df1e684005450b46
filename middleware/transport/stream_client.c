/* The client's side of stream_socket.h. */
#include "transport/stream_socket.h"

#include "transport/sockets.h"
#include "transport/stream_bytes.h"

#include <stdlib.h>
#include <unistd.h>

struct connection {
    struct stream_bytes stream;
    uint8_t *request;
    size_t request_room;
    uint32_t request_bytes;
    uint64_t sequence;
    struct value answer;
};

enum os_status stream_prepare(struct connection *connection, const struct value *argument)
{
    const uint32_t bytes = frame_bytes(argument->kind, argument->length);
    if (bytes > connection->request_room) {
        uint8_t *const larger = realloc(connection->request, bytes);
        if (larger == NULL) {
            return OS_NO_MEMORY;
        }
        connection->request = larger;
        connection->request_room = bytes;
    }
    frame_write(connection->request, argument);
    connection->request_bytes = bytes;
    return stream_bytes_reserve(&connection->stream, bytes); /* the answer has as many */
}

/* Sends what was prepared, and waits for the answer to that. */
static enum os_status exchange(struct connection *connection, uint16_t flags)
{
    struct stream_bytes *const stream = &connection->stream;
    struct frame frame;
    const uint64_t sequence = ++connection->sequence;
    frame_stamp(connection->request, flags, sequence);
    enum os_status status = stream_bytes_send(stream, connection->request, connection->request_bytes);
    if (status != OS_OK) {
        return status;
    }
    do { /* an answer with a number before this one came too late */
        status = stream_bytes_receive(stream, connection->request_bytes, &frame);
    } while (status == OS_OK && frame.sequence < sequence);
    if (status != OS_OK) {
        return status == OS_INVALID ? OS_FAILED : status;
    }
    if (frame.sequence != sequence || frame.flags != (flags | FRAME_ANSWER)) {
        return OS_FAILED;
    }
    connection->answer = frame.value;
    return OS_OK;
}

enum os_status stream_call(struct connection *connection)
{
    return exchange(connection, FRAME_REQUEST);
}

enum os_status stream_send_one_way(struct connection *connection)
{
    frame_stamp(connection->request, FRAME_ONE_WAY, ++connection->sequence);
    return stream_bytes_send(&connection->stream, connection->request, connection->request_bytes);
}

void stream_answer(struct connection *connection, struct value *answer)
{
    *answer = connection->answer;
}

/* Somebody answers here, who understands what is said: an endpoint alone also takes who waits for another's end. */
static enum os_status greet(struct connection *connection, const struct connect_options *options)
{
    const int file = connection->stream.file;
    const struct value nothing = {.kind = VALUE_VOID};
    if (!socket_be_patient(file, false, long_patience_ns(options->patience_ns))) {
        return OS_FAILED;
    }
    enum os_status status = stream_prepare(connection, &nothing);
    if (status == OS_OK) {
        status = exchange(connection, FRAME_GREETING);
    }
    if (status == OS_OK && (!socket_be_patient(file, false, options->patience_ns) ||
                            !socket_be_patient(file, true, options->patience_ns))) {
        status = OS_FAILED;
    }
    connection->stream.patience_ns = options->patience_ns;
    return status;
}

enum os_status stream_connect(const struct stream_family *family, struct connection **made,
                              const struct connect_options *options)
{
    struct connection *const connection = calloc(1, sizeof *connection);
    *made = NULL;
    if (connection == NULL) {
        return OS_NO_MEMORY;
    }
    enum os_status status =
        family->reach(options->endpoint, long_patience_ns(options->patience_ns), &connection->stream.file);
    if (status == OS_OK) {
        status = greet(connection, options);
    }
    if (status != OS_OK) {
        stream_disconnect(connection);
        return status;
    }
    *made = connection;
    return OS_OK;
}

void stream_disconnect(struct connection *connection)
{
    if (connection->stream.file != SOCKET_NONE) {
        close(connection->stream.file);
    }
    stream_bytes_free(&connection->stream);
    free(connection->request);
    free(connection);
}
