/* Messages with their borders kept: mq_overview(7), unix(7), udp(7). */
#include "channel_kinds.h"

#include "format.h"
#include "status.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct channel_queue {
    struct os_channel base;
    mqd_t native;
};

enum { QUEUE_DEPTH = 2, QUEUE_USUAL_BYTES = 8192, UDP_MOST_BYTES = 65507, LOST_AFTER_S = 1, ROOM_PER_BYTE = 4 };

static enum os_status queue_send(struct os_channel *channel)
{
    const mqd_t queue = ((struct channel_queue *)channel)->native;
    return mq_send(queue, (const char *)channel->outgoing, channel->message_bytes, 1) == 0 ? OS_OK
                                                                                           : channel_failure(errno);
}

static enum os_status queue_receive(struct os_channel *channel)
{
    const mqd_t queue = ((struct channel_queue *)channel)->native;
    const ssize_t got = mq_receive(queue, (char *)channel->incoming, channel->message_bytes, NULL);
    return got >= 0 ? OS_OK : channel_failure(errno);
}

/* The name is taken off at once: the queue lives as long as this process, whatever ends it. */
static enum os_status queue_open(struct os_channel *channel, const char **why)
{
    static atomic_uint serial;
    char name[48];
    format_text(name, sizeof name, "/tautochrone-%ld-channel-%u", (long)getpid(), atomic_fetch_add(&serial, 1U));

    struct channel_queue *const queue = (struct channel_queue *)channel;
    struct mq_attr attributes = {.mq_maxmsg = QUEUE_DEPTH, .mq_msgsize = (long)channel->message_bytes};
    queue->native = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
    if (queue->native == (mqd_t)-1) {
        switch (errno) {
        case ENOSYS:
            *why = "this kernel has no message queues (CONFIG_POSIX_MQUEUE)";
            break;
        case EINVAL:
            *why = "the message is longer than fs.mqueue.msgsize_max";
            break;
        case EMFILE:
            *why = "the limit on message queue memory is reached (ulimit -q)";
            break;
        case ENOSPC:
            *why = "there are as many message queues as fs.mqueue.queues_max allows";
            break;
        default:
            break;
        }
        return os_status_from_errno(errno);
    }
    mq_unlink(name);
    channel->send = queue_send;
    channel->receive = queue_receive;
    return OS_OK;
}

static void queue_close(struct os_channel *channel)
{
    struct channel_queue *const queue = (struct channel_queue *)channel;
    if (queue->native != (mqd_t)-1) {
        mq_close(queue->native);
    }
}

static size_t queue_most_bytes(const char **how_to_raise)
{
    *how_to_raise = "Raise it with: sysctl fs.mqueue.msgsize_max, and ulimit -q (bytes in all queues of a user).";
    return channel_read_limit("/proc/sys/fs/mqueue/msgsize_max", QUEUE_USUAL_BYTES);
}

static enum os_status socket_send(struct os_channel *channel)
{
    const int out = ((struct channel_ends *)channel)->out;
    const ssize_t sent = send(out, channel->outgoing, channel->message_bytes, 0);
    return sent >= 0 ? OS_OK : channel_failure(errno);
}

static enum os_status socket_receive(struct os_channel *channel)
{
    const int in = ((struct channel_ends *)channel)->in;
    const ssize_t got = recv(in, channel->incoming, channel->message_bytes, 0);
    if (got != (ssize_t)channel->message_bytes) {
        return got < 0 ? channel_failure(errno) : OS_FAILED;
    }
    return OS_OK;
}

static void use_sockets(struct channel_ends *ends)
{
    ends->base.send = socket_send;
    ends->base.receive = socket_receive;
}

static int room(int out)
{
    int given = 0;
    socklen_t bytes = sizeof given;
    return getsockopt(out, SOL_SOCKET, SO_SNDBUF, &given, &bytes) == 0 ? given : 0;
}

/* For two messages and what the system adds to them, so that no sender waits for room. The kernel doubles what is asked
 * for (socket(7), SO_SNDBUF). */
static enum os_status make_room(int out, size_t message_bytes, const char **why)
{
    const int half = (int)(ROOM_PER_BYTE / 2 * message_bytes);
    if (room(out) < 2 * half) {
        (void)setsockopt(out, SOL_SOCKET, SO_SNDBUF, &half, sizeof half);
    }
    if (room(out) < 2 * half) {
        *why = "two messages of this size are more than net.core.wmem_max allows";
        return OS_INVALID;
    }
    return OS_OK;
}

static enum os_status unix_open(struct os_channel *channel, const char **why)
{
    struct channel_ends *const ends = (struct channel_ends *)channel;
    int both[2];
    ends->in = ends->out = -1;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, both) != 0) {
        return os_status_from_errno(errno);
    }
    ends->in = both[0];
    ends->out = both[1];
    use_sockets(ends);
    return make_room(ends->out, channel->message_bytes, why);
}

static size_t unix_most_bytes(const char **how_to_raise)
{
    *how_to_raise = "Raise it with: sysctl net.core.wmem_max.";
    return 2 * channel_read_limit("/proc/sys/net/core/wmem_max", 65536) / ROOM_PER_BYTE;
}

static int bind_to_loopback(struct sockaddr_in *address)
{
    socklen_t bytes = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int made = socket(AF_INET, SOCK_DGRAM, 0);
    if (made >= 0 && (bind(made, (const struct sockaddr *)address, sizeof *address) != 0 ||
                      getsockname(made, (struct sockaddr *)address, &bytes) != 0)) {
        const int error = errno;
        close(made);
        errno = error;
        return -1;
    }
    return made;
}

/* Datagrams may get lost, on the loopback too when memory is short: a receiver waits a second, not for ever. */
static enum os_status udp_open(struct os_channel *channel, const char **why)
{
    struct channel_ends *const ends = (struct channel_ends *)channel;
    const struct timeval patience = {.tv_sec = LOST_AFTER_S};
    struct sockaddr_in to;
    struct sockaddr_in from;
    ends->in = bind_to_loopback(&to);
    ends->out = bind_to_loopback(&from);
    if (ends->in < 0 || ends->out < 0 || connect(ends->out, (const struct sockaddr *)&to, sizeof to) != 0 ||
        connect(ends->in, (const struct sockaddr *)&from, sizeof from) != 0 ||
        setsockopt(ends->in, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0) {
        if (errno == ENETUNREACH || errno == EADDRNOTAVAIL) {
            *why = "the loopback interface is down (ip link set lo up)";
        }
        return os_status_from_errno(errno);
    }
    use_sockets(ends);
    return OS_OK;
}

static size_t udp_most_bytes(const char **how_to_raise)
{
    *how_to_raise = "The protocol has no more (RFC 768).";
    return UDP_MOST_BYTES;
}

const struct os_channel_kind channel_message_queue = {
    .name = "message-queue",
    .what = "POSIX message queue: mq_send and mq_receive",
    .size = sizeof(struct channel_queue),
    .open = queue_open,
    .close = queue_close,
    .most_bytes = queue_most_bytes,
};
const struct os_channel_kind channel_unix = {
    .name = "unix",
    .what = "pair of Unix datagram sockets: send and recv",
    .size = sizeof(struct channel_ends),
    .open = unix_open,
    .close = channel_ends_close,
    .most_bytes = unix_most_bytes,
};
const struct os_channel_kind channel_udp = {
    .name = "udp",
    .what = "UDP over the loopback: send and recv",
    .size = sizeof(struct channel_ends),
    .open = udp_open,
    .close = channel_ends_close,
    .most_bytes = udp_most_bytes,
};
