/* The server's side of stream_socket.h. */
#include "transport/stream_socket.h"

#include "transport/posts.h"
#include "transport/sockets.h"
#include "transport/stream_bytes.h"

#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAITING_CONNECTIONS = 16 };
static const int64_t stranger_patience_ns = 2000000000; /* with who connects and does not greet */
static const int64_t stuck_ns = 10000000000;            /* with who does not take its answers */

struct stream_servant {
    struct servant *servant;
    struct os_thread *thread; /* NULL: not started */
    struct stream_bytes stream;
    pthread_mutex_t guard; /* of what follows: who ends the service shuts the sockets of a thread that waits */
    int listening;
    int connected;
    bool ending;
};

static const struct stream_family *family; /* of them all */

/* ---- The thread that serves ------------------------------------------------ */

/* It learns the reason from an answer, before it is left. */
static void refuse_foreign(const struct stream_bytes *stream)
{
    uint8_t refusal[FRAME_HEADER_BYTES];
    if (frame_refuse_foreign(stream->buffer + stream->begin, refusal)) {
        (void)stream_bytes_send(stream, refusal, sizeof refusal);
    }
}

static enum os_status serve_frame(struct stream_servant *own, struct frame *frame)
{
    if ((frame->flags & FRAME_ANSWER) != 0) {
        return OS_INVALID;
    }
    const bool one_way = (frame->flags & FRAME_ONE_WAY) != 0;
    if ((frame->flags & FRAME_GREETING) == 0) {
        servant_handle(own->servant, &frame->value, one_way);
    }
    if (one_way) {
        return OS_OK;
    }
    void *const bytes = stream_bytes_last(&own->stream, frame);
    frame_become_answer(bytes, frame);
    return stream_bytes_send(&own->stream, bytes, frame->bytes);
}

/* Until the other end goes away, or says what is no frame. */
static void serve_connection(struct stream_servant *own)
{
    struct stream_bytes *const stream = &own->stream;
    struct frame frame;
    stream->begin = 0;
    stream->end = 0;
    if (!socket_be_patient(stream->file, false, stranger_patience_ns) ||
        !socket_be_patient(stream->file, true, stuck_ns)) {
        return;
    }
    enum os_status status = stream_bytes_receive(stream, FRAME_HEADER_BYTES, &frame);
    if (status == OS_UNSUPPORTED) {
        refuse_foreign(stream);
    }
    if (status != OS_OK || !socket_be_patient(stream->file, false, 0)) {
        return;
    }
    while (status == OS_OK) {
        status = serve_frame(own, &frame);
        if (status == OS_OK) {
            servant_rest_when_due(own->servant);
            status = stream_bytes_receive(stream, FRAME_HEADER_BYTES, &frame);
        }
    }
}

/* From now on this is the socket that an end would shut. False: the end has come already. */
static bool hold(struct stream_servant *own, int file)
{
    pthread_mutex_lock(&own->guard);
    own->connected = file;
    const bool goes_on = !own->ending;
    pthread_mutex_unlock(&own->guard);
    return goes_on;
}

static bool is_passing(int error)
{
    return error == EINTR || error == ECONNABORTED || error == EPROTO;
}

static void serve_servant(void *argument)
{
    struct stream_servant *const own = argument;
    servant_is_served_here(own->servant);
    bool goes_on = true;
    while (goes_on) {
        const int file = accept(own->listening, NULL, NULL);
        if (file < 0) {
            if (!is_passing(errno)) {
                goes_on = false;
                if (hold(own, SOCKET_NONE)) {
                    servant_fail(own->servant, "it can't accept a connection");
                }
            }
            continue;
        }
        goes_on = hold(own, file);
        own->stream.file = file;
        if (goes_on) {
            serve_connection(own);
        }
        goes_on = hold(own, SOCKET_NONE);
        close(file);
        servant_rest_when_due(own->servant); /* strangers may come one after the other */
    }
}

/* ---- The service ------------------------------------------------------------ */

static enum os_status begin(void *post, struct service *service, uint32_t number, const char **what)
{
    struct stream_servant *const own = post;
    *own = (struct stream_servant){
        .servant = service->servants[number], .listening = SOCKET_NONE, .connected = SOCKET_NONE};
    own->stream = (struct stream_bytes){.file = SOCKET_NONE, .eager = true};
    pthread_mutex_init(&own->guard, NULL);
    enum os_status status = stream_bytes_reserve(&own->stream, FRAME_HEADER_BYTES);
    if (status == OS_OK) {
        *what = "open its endpoint";
        status = family->open(service->address, &own->listening, service->endpoints[number]);
    }
    if (status == OS_OK && listen(own->listening, WAITING_CONNECTIONS) != 0) {
        status = socket_give_up(&own->listening);
    }
    if (status == OS_OK) {
        *what = "have its thread";
        status = os_thread_create(&own->thread, servant_attributes(own->servant), serve_servant, own);
        own->thread = status == OS_OK ? own->thread : NULL;
    }
    return status;
}

static void shut(int file)
{
    if (file != SOCKET_NONE) {
        shutdown(file, SHUT_RDWR);
    }
}

static void end(void *post)
{
    struct stream_servant *const own = post;
    pthread_mutex_lock(&own->guard);
    own->ending = true;
    shut(own->connected);
    shut(own->listening);
    pthread_mutex_unlock(&own->guard);
    if (own->thread != NULL) {
        os_thread_join(own->thread);
    }
    if (own->listening != SOCKET_NONE) {
        close(own->listening);
    }
    stream_bytes_free(&own->stream);
    pthread_mutex_destroy(&own->guard);
}

enum os_status stream_serve(const struct stream_family *served, struct service *service)
{
    static const struct post_kind kind = {.bytes = sizeof(struct stream_servant), .begin = begin, .end = end};
    family = served;
    return posts_serve(&kind, service);
}
