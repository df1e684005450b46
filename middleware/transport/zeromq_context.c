/* See zeromq_context.h. */
#include "transport/zeromq_context.h"

#include "format.h"
#include "os/network.h"
#include "os/posix/network_address.h"
#include "transport/frame.h"
#include "transport/sockets.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <zmq.h>

enum { NS_PER_MS = 1000000 };

static enum os_status status_of(int error)
{
    return error == EAGAIN ? OS_TIMED_OUT : network_status(error);
}

static bool set(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof value) == 0;
}

/* Nothing is kept behind the end, and nothing is allocated because a stranger says that so much is to come. */
static bool prepare_socket(void *socket)
{
    const int64_t most_bytes = FRAME_MOST_BYTES;
    return set(socket, ZMQ_LINGER, 0) &&
           zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &most_bytes, sizeof most_bytes) == 0;
}

/* ---- Contexts --------------------------------------------------------------- */

/* Numbers as in sched.h; without real-time policy nothing is set: a priority would become a nice value of -20. */
static bool make_urgent(void *context, const struct os_thread_attributes *attributes)
{
    if (attributes->policy == OS_POLICY_FIFO || attributes->policy == OS_POLICY_RR) {
        const int policy = attributes->policy == OS_POLICY_FIFO ? SCHED_FIFO : SCHED_RR;
        const int priority = (int)os_priority_to_native(attributes->policy, attributes->below_highest);
        if (zmq_ctx_set(context, ZMQ_THREAD_SCHED_POLICY, policy) != 0 ||
            zmq_ctx_set(context, ZMQ_THREAD_PRIORITY, priority) != 0) {
            return false;
        }
    }
    return attributes->cpu == OS_CPU_ANY ||
           zmq_ctx_set(context, ZMQ_THREAD_AFFINITY_CPU_ADD, (int)attributes->cpu) == 0;
}

enum os_status zeromq_context_open(void **context, const struct os_thread_attributes *attributes, uint32_t number)
{
    if (attributes->policy == OS_POLICY_DEADLINE) {
        return OS_UNSUPPORTED; /* such a thread can't have others made */
    }
    uint64_t most = 0;
    const enum os_status allowed = os_network_allow(((uint64_t)number + 1) * ZEROMQ_FILES, &most);
    if (allowed != OS_OK) {
        return allowed;
    }
    *context = zmq_ctx_new();
    if (*context == NULL) {
        return OS_NO_MEMORY;
    }
    if (zmq_ctx_set(*context, ZMQ_IPV6, 1) != 0 || zmq_ctx_set(*context, ZMQ_BLOCKY, 0) != 0 ||
        zmq_ctx_set(*context, ZMQ_THREAD_NAME_PREFIX, (int)number) != 0 || !make_urgent(*context, attributes)) {
        return OS_UNSUPPORTED;
    }
    return OS_OK;
}

enum os_status zeromq_listen(void *context, const char *address, void **made, char endpoint[ENDPOINT_BYTES])
{
    size_t bytes = ENDPOINT_BYTES;
    void *const socket = zmq_socket(context, ZMQ_ROUTER);
    *made = socket;
    if (socket == NULL) {
        return status_of(errno);
    }
    format_text(endpoint, ENDPOINT_BYTES, strchr(address, ':') != NULL ? "tcp://[%s]:*" : "tcp://%s:*", address);
    /* Mandatory: an answer for which there is no room waits, where it would be thrown away. */
    if (!prepare_socket(socket) || !set(socket, ZMQ_ROUTER_MANDATORY, 1) || zmq_bind(socket, endpoint) != 0 ||
        zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &bytes) != 0) {
        return status_of(errno);
    }
    return OS_OK;
}

/* ---- A connection ----------------------------------------------------------- */

/* In whole milliseconds, not shorter. */
static int milliseconds(int64_t patience_ns)
{
    const int64_t whole = (patience_ns + NS_PER_MS - 1) / NS_PER_MS;
    return whole < INT_MAX ? (int)whole : INT_MAX;
}

/* The next thing that has happened to the connection; 0: nothing. */
static uint16_t next_event(struct zeromq_link *link, int flags)
{
    uint16_t event = 0;
    zmq_msg_t part;
    zmq_msg_init(&part);
    if (zmq_msg_recv(&part, link->monitor, flags) >= (int)sizeof event) {
        memcpy(&event, zmq_msg_data(&part), sizeof event);
    }
    while (zmq_msg_more(&part) && zmq_msg_recv(&part, link->monitor, 0) >= 0) {
    }
    zmq_msg_close(&part);
    return event;
}

enum {
    ENDS = ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_CONNECT_RETRIED |
           ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL,
    MARKS = ENDS | ZMQ_EVENT_HANDSHAKE_SUCCEEDED,
};

/* Whatever events there are, and where none is, as long as the monitor is patient. */
static enum os_status await_handshake(struct zeromq_link *link)
{
    const uint16_t event = next_event(link, 0);
    if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
        return OS_OK;
    }
    link->over = event != 0;
    return event == 0 ? OS_TIMED_OUT : OS_REFUSED;
}

enum os_status zeromq_link_status(struct zeromq_link *link, int error)
{
    if (error != EAGAIN) {
        return status_of(error);
    }
    uint16_t event;
    while ((event = next_event(link, ZMQ_DONTWAIT)) != 0) {
        link->over = link->over || (event & ENDS) != 0;
    }
    return link->over ? OS_CLOSED : OS_TIMED_OUT;
}

enum os_status zeromq_link_be_patient(struct zeromq_link *link, int64_t patience_ns)
{
    const int patience_ms = milliseconds(patience_ns);
    link->patience_ns = patience_ns;
    return set(link->socket, ZMQ_RCVTIMEO, patience_ms) && set(link->socket, ZMQ_SNDTIMEO, patience_ms) ? OS_OK
                                                                                                        : OS_FAILED;
}

/* A connection that ended does not come back, and nothing waits in a queue for another. */
static bool prepare_dealer(void *socket)
{
    return prepare_socket(socket) && set(socket, ZMQ_IMMEDIATE, 1) && set(socket, ZMQ_RECONNECT_IVL, -1);
}

static bool watch(struct zeromq_link *link, int64_t patience_ns)
{
    static const char name[] = "inproc://monitor";
    if (zmq_socket_monitor(link->socket, name, MARKS) != 0) {
        return false;
    }
    link->monitor = zmq_socket(link->context, ZMQ_PAIR);
    return link->monitor != NULL && set(link->monitor, ZMQ_LINGER, 0) &&
           set(link->monitor, ZMQ_RCVTIMEO, milliseconds(patience_ns)) && zmq_connect(link->monitor, name) == 0;
}

/* As the calling thread is, which is the one that will call. */
static struct os_thread_attributes own_attributes(void)
{
    struct os_thread_obtained obtained;
    os_thread_read_back(&obtained);
    struct os_thread_attributes attributes = {.policy = obtained.policy, .cpu = (int32_t)obtained.cpu};
    if (os_priority_from_native(obtained.policy, obtained.native_priority, &attributes.below_highest) != OS_OK) {
        attributes.below_highest = 0;
    }
    if (obtained.cpu == INT64_MIN) {
        attributes.cpu = OS_CPU_ANY;
    }
    return attributes;
}

enum os_status zeromq_link_open(struct zeromq_link *link, const struct connect_options *options)
{
    const int64_t patience_ns = long_patience_ns(options->patience_ns);
    const struct os_thread_attributes attributes = own_attributes();
    *link = (struct zeromq_link){.over = false};
    enum os_status status = zeromq_context_open(&link->context, &attributes, options->number);
    if (status != OS_OK) {
        return status;
    }
    link->socket = zmq_socket(link->context, ZMQ_DEALER);
    if (link->socket == NULL || !prepare_dealer(link->socket) || !watch(link, patience_ns)) {
        return status_of(errno);
    }
    status = zeromq_link_be_patient(link, patience_ns);
    if (status == OS_OK && zmq_connect(link->socket, options->endpoint) != 0) {
        status = status_of(errno);
    }
    return status == OS_OK ? await_handshake(link) : status;
}

void zeromq_link_close(struct zeromq_link *link)
{
    if (link->monitor != NULL) {
        zmq_close(link->monitor);
    }
    if (link->socket != NULL) {
        zmq_socket_monitor(link->socket, NULL, 0);
        zmq_close(link->socket);
    }
    if (link->context != NULL) {
        zmq_ctx_term(link->context);
    }
}
