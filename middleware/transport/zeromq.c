/*
 * ZeroMQ, by its C interface: a ROUTER for each servant, a DEALER for each connection (REQ and REP know no one-way).
 *
 * A message goes through a thread of the library, one for each context. So every servant and every connection has a
 * context of its own, and that thread has the policy, the priority and the CPU of the thread that it works for: the
 * library takes them when the first socket is made (docs/middleware-zeromq.md says what it makes of them).
 */
#include "transport.h"

#include "format.h"
#include "transport/frame.h"
#include "transport/interruption.h"
#include "transport/posts.h"
#include "transport/zeromq_context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

/* ---- The server's side ------------------------------------------------------ */

struct zeromq_servant {
    struct servant *servant;
    struct os_thread *thread; /* NULL: not started */
    struct os_semaphore *opened;
    const char *address;
    char *endpoint;
    enum os_status status; /* of opening it */
    void *context;
    void *socket;
};

/* The rest of a message of too many parts, which is no request. */
static bool has_more(void *socket, zmq_msg_t *part)
{
    bool more = false;
    while (zmq_msg_more(part) && zmq_msg_recv(part, socket, 0) >= 0) {
        more = true;
    }
    return more;
}

/* A copy of it is aligned. */
static bool align(zmq_msg_t *request, struct frame *frame)
{
    zmq_msg_t copy;
    if (zmq_msg_init_size(&copy, frame->bytes) != 0) {
        return false;
    }
    memcpy(zmq_msg_data(&copy), zmq_msg_data(request), frame->bytes);
    zmq_msg_move(request, &copy);
    zmq_msg_close(&copy);
    return frame_read(zmq_msg_data(request), zmq_msg_size(request), frame) == FRAME_GOOD;
}

/* The request becomes what is sent back. False: nothing is. */
static bool serve_request(struct zeromq_servant *own, zmq_msg_t *request, bool *one_way)
{
    struct frame frame;
    uint8_t refusal[FRAME_HEADER_BYTES];
    const enum frame_verdict verdict = frame_read(zmq_msg_data(request), zmq_msg_size(request), &frame);
    if (verdict == FRAME_FOREIGN && frame_refuse_foreign(zmq_msg_data(request), refusal)) {
        memcpy(zmq_msg_data(request), refusal, sizeof refusal); /* it has more bytes than this, or as many */
        return true;
    }
    if (verdict != FRAME_GOOD || (frame.flags & FRAME_ANSWER) != 0 ||
        (!frame_is_aligned(&frame) && !align(request, &frame))) {
        return false;
    }
    *one_way = (frame.flags & FRAME_ONE_WAY) != 0;
    if ((frame.flags & FRAME_GREETING) == 0) {
        servant_handle(own->servant, &frame.value, *one_way);
    }
    frame_become_answer(zmq_msg_data(request), &frame);
    return true;
}

/* False: the service ends. A client that is gone gets no answer. */
static bool serve_message(struct zeromq_servant *own, zmq_msg_t *client, zmq_msg_t *request)
{
    bool one_way = false;
    if (zmq_msg_recv(client, own->socket, 0) < 0) {
        return errno != ETERM;
    }
    if (!zmq_msg_more(client)) {
        return true;
    }
    if (zmq_msg_recv(request, own->socket, 0) < 0) {
        return errno != ETERM;
    }
    if (has_more(own->socket, request) || !serve_request(own, request, &one_way) || one_way) {
        return true;
    }
    if (zmq_msg_send(client, own->socket, ZMQ_SNDMORE) < 0) {
        return errno != ETERM;
    }
    return zmq_msg_send(request, own->socket, 0) >= 0 || errno != ETERM;
}

static enum os_status open_endpoint(struct zeromq_servant *own)
{
    enum os_status status =
        zeromq_context_open(&own->context, servant_attributes(own->servant), servant_number(own->servant));
    if (status == OS_OK) {
        status = zeromq_listen(own->context, own->address, &own->socket, own->endpoint);
    }
    return status;
}

static void serve_servant(void *argument)
{
    struct zeromq_servant *const own = argument;
    zmq_msg_t client;
    zmq_msg_t request;
    zmq_msg_init(&client);
    zmq_msg_init(&request);
    own->status = open_endpoint(own);
    if (own->status == OS_OK) {
        servant_is_served_here(own->servant);
    }
    const bool opened = own->status == OS_OK; /* whoever waits for this may end it all as soon as it is told */
    os_semaphore_post(own->opened);
    while (opened && serve_message(own, &client, &request)) {
        servant_rest_when_due(own->servant);
    }
    zmq_msg_close(&client);
    zmq_msg_close(&request);
    if (own->socket != NULL) {
        zmq_close(own->socket);
    }
}

static enum os_status begin(void *post, struct service *service, uint32_t number, const char **what)
{
    struct zeromq_servant *const own = post;
    *what = "have its thread and endpoint";
    own->servant = service->servants[number];
    own->address = service->address;
    own->endpoint = service->endpoints[number];
    enum os_status status = os_semaphore_create(&own->opened, 0);
    if (status != OS_OK) {
        own->opened = NULL;
        return status;
    }
    status = os_thread_create(&own->thread, servant_attributes(own->servant), serve_servant, own);
    if (status != OS_OK) {
        own->thread = NULL;
        return status;
    }
    status = os_semaphore_wait(own->opened);
    return status == OS_OK ? own->status : status;
}

/* The wait of the serving thread ends with the context. */
static void end(void *post)
{
    struct zeromq_servant *const own = post;
    if (own->context != NULL) {
        zmq_ctx_shutdown(own->context);
    }
    if (own->thread != NULL) {
        os_thread_join(own->thread);
    }
    if (own->context != NULL) {
        zmq_ctx_term(own->context);
    }
    if (own->opened != NULL) {
        os_semaphore_destroy(own->opened);
    }
}

static enum os_status zeromq_serve(struct service *service)
{
    static const struct post_kind kind = {.bytes = sizeof(struct zeromq_servant), .begin = begin, .end = end};
    return posts_serve(&kind, service);
}

/* ---- The client's side ------------------------------------------------------ */

struct connection {
    struct zeromq_link link;
    zmq_msg_t request; /* what was prepared; empty after it was sent */
    zmq_msg_t received;
    struct frame frame; /* of `received` */
    void *aligned;      /* for elements that the library has put where they are not aligned */
    size_t aligned_bytes;
    uint64_t sequence;
};

static enum os_status zeromq_prepare(struct connection *connection, const struct value *argument)
{
    const uint32_t bytes = frame_bytes(argument->kind, argument->length);
    if (bytes > connection->aligned_bytes) {
        void *const larger = realloc(connection->aligned, bytes);
        if (larger == NULL) {
            return OS_NO_MEMORY;
        }
        connection->aligned = larger;
        connection->aligned_bytes = bytes;
    }
    zmq_msg_close(&connection->request);
    if (zmq_msg_init_size(&connection->request, bytes) != 0) {
        zmq_msg_init(&connection->request);
        return OS_NO_MEMORY;
    }
    frame_write(zmq_msg_data(&connection->request), argument);
    return OS_OK;
}

static enum os_status transmit(struct connection *connection, uint16_t flags)
{
    struct interruption interruption = {.patience_ns = connection->link.patience_ns};
    frame_stamp(zmq_msg_data(&connection->request), flags, ++connection->sequence);
    while (zmq_msg_send(&connection->request, connection->link.socket, 0) < 0) {
        if (errno != EINTR) {
            return zeromq_link_status(&connection->link, errno);
        }
        if (interruption_ends_wait(&interruption)) {
            return OS_TIMED_OUT;
        }
    }
    return OS_OK;
}

static enum os_status await_answer(struct connection *connection, uint16_t flags)
{
    zmq_msg_t *const received = &connection->received;
    struct frame *const frame = &connection->frame;
    struct interruption interruption = {.patience_ns = connection->link.patience_ns};
    do { /* an answer with a number before this one came too late */
        while (zmq_msg_recv(received, connection->link.socket, 0) < 0) {
            if (errno != EINTR) {
                return zeromq_link_status(&connection->link, errno);
            }
            if (interruption_ends_wait(&interruption)) {
                return OS_TIMED_OUT;
            }
        }
        const enum frame_verdict verdict = frame_read(zmq_msg_data(received), zmq_msg_size(received), frame);
        if (verdict != FRAME_GOOD) {
            return verdict == FRAME_FOREIGN ? OS_UNSUPPORTED : OS_FAILED;
        }
    } while (frame->sequence < connection->sequence);
    return frame->sequence == connection->sequence && frame->flags == (flags | FRAME_ANSWER) ? OS_OK : OS_FAILED;
}

static enum os_status zeromq_call(struct connection *connection)
{
    const enum os_status status = transmit(connection, FRAME_REQUEST);
    return status == OS_OK ? await_answer(connection, FRAME_REQUEST) : status;
}

static enum os_status zeromq_send(struct connection *connection)
{
    return transmit(connection, FRAME_ONE_WAY);
}

static void zeromq_answer(struct connection *connection, struct value *answer)
{
    *answer = connection->frame.value;
    if (!frame_is_aligned(&connection->frame) &&
        connection->frame.bytes <= connection->aligned_bytes) {
        memcpy(connection->aligned, answer->elements, connection->frame.bytes - FRAME_HEADER_BYTES);
        answer->elements = connection->aligned;
    }
}

static enum os_status greet(struct connection *connection)
{
    const struct value nothing = {.kind = VALUE_VOID};
    enum os_status status = zeromq_prepare(connection, &nothing);
    status = status == OS_OK ? transmit(connection, FRAME_GREETING) : status;
    return status == OS_OK ? await_answer(connection, FRAME_GREETING) : status;
}

static void zeromq_disconnect(struct connection *connection)
{
    zmq_msg_close(&connection->request);
    zmq_msg_close(&connection->received);
    zeromq_link_close(&connection->link);
    free(connection->aligned);
    free(connection);
}

static enum os_status zeromq_connect(struct connection **made, const struct connect_options *options)
{
    struct connection *const connection = calloc(1, sizeof *connection);
    *made = NULL;
    if (connection == NULL) {
        return OS_NO_MEMORY;
    }
    zmq_msg_init(&connection->request);
    zmq_msg_init(&connection->received);
    enum os_status status = zeromq_link_open(&connection->link, options);
    status = status == OS_OK ? greet(connection) : status;
    status = status == OS_OK ? zeromq_link_be_patient(&connection->link, options->patience_ns) : status;
    if (status != OS_OK) {
        zeromq_disconnect(connection);
        return status;
    }
    *made = connection;
    return OS_OK;
}

static const char *version(void)
{
    static char text[32];
    int major = 0;
    int minor = 0;
    int patch = 0;
    zmq_version(&major, &minor, &patch);
    format_text(text, sizeof text, "%d.%d.%d", major, minor, patch);
    return text;
}

const struct transport the_transport = {
    .name = "zeromq",
    .title = "ZeroMQ",
    .version = version,
    .reliable = true,
    .serve = zeromq_serve,
    .end_service = posts_end_service,
    .connect = zeromq_connect,
    .disconnect = zeromq_disconnect,
    .prepare = zeromq_prepare,
    .call = zeromq_call,
    .send = zeromq_send,
    .answer = zeromq_answer,
};
