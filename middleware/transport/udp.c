/*
 * UDP over IPv4 and IPv6: a frame is a datagram. It arrives whole or not at all, and perhaps late: a number in each
 * request comes back in its answer, and an answer to an earlier call is passed over. Nothing is sent again.
 */
#include "transport.h"

#include "os/posix/network_address.h"
#include "transport/frame.h"
#include "transport/posts.h"
#include "transport/sockets.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    DATAGRAM_BYTES = 65507, /* the most that IPv4 carries; IPv6 carries 20 more */
    FRAME_MOST = DATAGRAM_BYTES / FRAME_ALIGNMENT * FRAME_ALIGNMENT,
    BUFFER_BYTES = 65536,
    FAILURES_IN_A_ROW = 100,
    NS_PER_MS = 1000000,
};
static const int64_t greeting_interval_ns = 200000000;

/* ---- The server's side ------------------------------------------------------ */

struct udp_servant {
    struct servant *servant;
    struct os_thread *thread; /* NULL: not started */
    int file;
    atomic_bool ending;
    uint8_t *buffer;
};

/* What is no request is nobody's. An answer that can't be sent is lost. */
static void serve_datagram(struct udp_servant *own, size_t bytes, const union network_address *from, socklen_t length)
{
    struct frame frame;
    uint8_t refusal[FRAME_HEADER_BYTES];
    const enum frame_verdict verdict = frame_read(own->buffer, bytes, &frame);
    if (verdict == FRAME_FOREIGN && frame_refuse_foreign(own->buffer, refusal)) {
        sendto(own->file, refusal, sizeof refusal, MSG_NOSIGNAL, &from->any, length);
    }
    if (verdict != FRAME_GOOD || (frame.flags & FRAME_ANSWER) != 0) {
        return;
    }
    const bool one_way = (frame.flags & FRAME_ONE_WAY) != 0;
    if ((frame.flags & FRAME_GREETING) == 0) {
        servant_handle(own->servant, &frame.value, one_way);
    }
    if (!one_way) {
        frame_become_answer(own->buffer, &frame);
        sendto(own->file, own->buffer, frame.bytes, MSG_NOSIGNAL, &from->any, length);
    }
}

static void serve_servant(void *argument)
{
    struct udp_servant *const own = argument;
    uint32_t failures = 0;
    servant_is_served_here(own->servant);
    while (!atomic_load_explicit(&own->ending, memory_order_relaxed)) {
        union network_address from;
        socklen_t length = sizeof from;
        const ssize_t received = recvfrom(own->file, own->buffer, BUFFER_BYTES, 0, &from.any, &length);
        if (received >= 0) {
            failures = 0;
            serve_datagram(own, (size_t)received, &from, length);
            servant_rest_when_due(own->servant);
        } else if (errno != EINTR && ++failures > FAILURES_IN_A_ROW) {
            servant_fail(own->servant, "it can't receive");
            return;
        }
    }
}

static enum os_status begin(void *post, struct service *service, uint32_t number, const char **what)
{
    struct udp_servant *const own = post;
    *own = (struct udp_servant){.servant = service->servants[number], .file = SOCKET_NONE};
    own->buffer = malloc(BUFFER_BYTES);
    if (own->buffer == NULL) {
        return OS_NO_MEMORY;
    }
    *what = "open its endpoint";
    enum os_status status = inet_open(SOCK_DGRAM, service->address, &own->file, service->endpoints[number]);
    if (status == OS_OK) {
        *what = "have its thread";
        status = os_thread_create(&own->thread, servant_attributes(own->servant), serve_servant, own);
        own->thread = status == OS_OK ? own->thread : NULL;
    }
    return status;
}

static void end(void *post)
{
    struct udp_servant *const own = post;
    if (own->thread != NULL) {
        atomic_store(&own->ending, true);
        shutdown(own->file, SHUT_RDWR); /* says that it is not connected, and yet ends the wait */
        os_thread_join(own->thread);
    }
    if (own->file != SOCKET_NONE) {
        close(own->file);
    }
    free(own->buffer);
}

static enum os_status udp_serve(struct service *service)
{
    static const struct post_kind kind = {.bytes = sizeof(struct udp_servant), .begin = begin, .end = end};
    return posts_serve(&kind, service);
}

/* ---- The client's side ------------------------------------------------------ */

struct connection {
    int file;
    int64_t patience_ns;
    uint64_t sequence;
    uint64_t unanswered; /* calls so far */
    uint32_t request_bytes;
    struct value answer;
    _Alignas(FRAME_ALIGNMENT) uint8_t request[BUFFER_BYTES];
    _Alignas(FRAME_ALIGNMENT) uint8_t received[BUFFER_BYTES];
};

static enum os_status udp_prepare(struct connection *connection, const struct value *argument)
{
    const uint32_t bytes = frame_bytes(argument->kind, argument->length);
    if (bytes > FRAME_MOST) {
        return OS_INVALID;
    }
    frame_write(connection->request, argument);
    connection->request_bytes = bytes;
    return OS_OK;
}

static enum os_status transmit(struct connection *connection, uint16_t flags)
{
    frame_stamp(connection->request, flags, ++connection->sequence);
    ssize_t sent;
    do {
        sent = send(connection->file, connection->request, connection->request_bytes, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? socket_status(errno) : OS_OK;
}

/* The next datagram. OS_INVALID: it is not the answer to what was sent last. */
static enum os_status receive(struct connection *connection, uint16_t flags)
{
    struct frame frame;
    const ssize_t received = recv(connection->file, connection->received, BUFFER_BYTES, 0);
    if (received < 0) {
        return errno == EINTR ? OS_INVALID : socket_status(errno);
    }
    const enum frame_verdict verdict = frame_read(connection->received, (size_t)received, &frame);
    if (verdict != FRAME_GOOD || frame.sequence != connection->sequence || frame.flags != (flags | FRAME_ANSWER)) {
        return verdict == FRAME_FOREIGN ? OS_UNSUPPORTED : OS_INVALID;
    }
    connection->answer = frame.value;
    return OS_OK;
}

/* What else arrives makes nobody wait longer: until the rest of the patience is over. */
static enum os_status receive_by(struct connection *connection, uint16_t flags, int64_t give_up_ns)
{
    for (;;) {
        const int64_t rest_ns = give_up_ns - os_now_ns();
        struct pollfd waiting = {.fd = connection->file, .events = POLLIN};
        if (rest_ns <= 0) {
            return OS_TIMED_OUT;
        }
        if (poll(&waiting, 1, (int)((rest_ns + NS_PER_MS - 1) / NS_PER_MS)) > 0) {
            const enum os_status status = receive(connection, flags);
            if (status != OS_INVALID) {
                return status;
            }
        }
    }
}

/* The clock is read only where an answer may come too late, since one has not come yet. */
static enum os_status exchange(struct connection *connection, uint16_t flags)
{
    const int64_t sent_ns = connection->unanswered > 0 ? os_now_ns() : 0;
    enum os_status status = transmit(connection, flags);
    if (status == OS_OK) {
        status = receive(connection, flags);
    }
    if (status == OS_INVALID) {
        const int64_t begin_ns = sent_ns != 0 ? sent_ns : os_now_ns();
        status = receive_by(connection, flags, begin_ns + connection->patience_ns);
    }
    connection->unanswered += status == OS_TIMED_OUT;
    return status;
}

static enum os_status udp_call(struct connection *connection)
{
    return exchange(connection, FRAME_REQUEST);
}

static enum os_status udp_send(struct connection *connection)
{
    return transmit(connection, FRAME_ONE_WAY);
}

static void udp_answer(struct connection *connection, struct value *answer)
{
    *answer = connection->answer;
}

/* Until somebody answers: a greeting may be lost too. */
static enum os_status greet(struct connection *connection, int64_t patience_ns)
{
    const struct value nothing = {.kind = VALUE_VOID};
    const int64_t give_up_ns = os_now_ns() + patience_ns;
    enum os_status status;
    (void)udp_prepare(connection, &nothing);
    connection->patience_ns = greeting_interval_ns;
    if (!socket_be_patient(connection->file, false, greeting_interval_ns)) {
        return OS_FAILED;
    }
    do {
        status = exchange(connection, FRAME_GREETING);
    } while (status == OS_TIMED_OUT && os_now_ns() < give_up_ns);
    return status == OS_CLOSED ? OS_REFUSED : status;
}

static void udp_disconnect(struct connection *connection)
{
    if (connection->file != SOCKET_NONE) {
        close(connection->file);
    }
    free(connection);
}

static enum os_status udp_connect(struct connection **made, const struct connect_options *options)
{
    struct connection *const connection = calloc(1, sizeof *connection);
    *made = NULL;
    if (connection == NULL) {
        return OS_NO_MEMORY;
    }
    enum os_status status = inet_reach(SOCK_DGRAM, options->endpoint, options->patience_ns, &connection->file);
    if (status == OS_OK) {
        status = greet(connection, long_patience_ns(options->patience_ns));
    }
    if (status == OS_OK && !socket_be_patient(connection->file, false, options->patience_ns)) {
        status = OS_FAILED;
    }
    if (status != OS_OK) {
        udp_disconnect(connection);
        return status;
    }
    connection->patience_ns = options->patience_ns;
    *made = connection;
    return OS_OK;
}

const struct transport the_transport = {
    .name = "udp",
    .title = "UDP",
    .reliable = false,
    .most_bytes = FRAME_MOST - FRAME_HEADER_BYTES,
    .serve = udp_serve,
    .end_service = posts_end_service,
    .connect = udp_connect,
    .disconnect = udp_disconnect,
    .prepare = udp_prepare,
    .call = udp_call,
    .send = udp_send,
    .answer = udp_answer,
};
