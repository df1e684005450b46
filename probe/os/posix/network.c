/* TCP sockets that never block; all waiting is done by poll(2). */
#include "os/network.h"

#include "network_address.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000, LOOK_INTERVAL_MS = 20, LONGEST_WAIT_MS = 1000000000 };

bool os_network_is_address(const char *host)
{
    union network_address address;
    return network_address_read(host, 0, &address) > 0;
}

static int descriptor(struct os_socket socket)
{
    return (int)socket.handle;
}

static bool set_option(int file, int level, int option)
{
    const int on = 1;
    return setsockopt(file, level, option, &on, sizeof on) == 0;
}

static bool never_blocks(int file)
{
    return fcntl(file, F_SETFL, O_NONBLOCK) == 0 && fcntl(file, F_SETFD, FD_CLOEXEC) == 0;
}

/* Takes over `file`. */
static enum os_status make_connection(int file, struct os_socket *made)
{
    if (!never_blocks(file) || !set_option(file, IPPROTO_TCP, TCP_NODELAY)) {
        const int error = errno;
        close(file);
        return network_status(error);
    }
    made->handle = file;
    return OS_OK;
}

/* A socket that can reach, or be reached at, this address. */
static enum os_status open_for(const char *host, uint16_t port, union network_address *address, socklen_t *length,
                               int *file)
{
    *length = network_address_read(host, port, address);
    if (*length == 0) {
        return OS_INVALID;
    }
    *file = socket(address->any.sa_family, SOCK_STREAM, 0);
    return *file < 0 ? network_status(errno) : OS_OK;
}

enum os_status os_network_listen(struct os_socket *made, const char *host, uint16_t port, uint32_t waiting)
{
    union network_address address;
    socklen_t length = 0;
    int file = -1;
    made->handle = OS_NO_SOCKET;
    const enum os_status opened = open_for(host, port, &address, &length, &file);
    if (opened != OS_OK) {
        return opened;
    }
    /* The port of a server that has just ended is free again. */
    const bool listens = never_blocks(file) && set_option(file, SOL_SOCKET, SO_REUSEADDR) &&
                         bind(file, &address.any, length) == 0 && listen(file, (int)waiting) == 0;
    if (!listens) {
        const int error = errno;
        close(file);
        return network_status(error);
    }
    made->handle = file;
    return OS_OK;
}

const char *os_network_loopback(void)
{
    static const char ip4[] = "127.0.0.1";
    static const char ip6[] = "::1";
    struct os_socket tried;
    if (os_network_listen(&tried, ip4, 0, 1) != OS_OK) {
        return ip6;
    }
    os_network_close(&tried);
    return ip4;
}

enum os_status os_network_port(struct os_socket socket, uint16_t *port)
{
    union network_address address;
    socklen_t length = sizeof address;
    if (getsockname(descriptor(socket), &address.any, &length) != 0) {
        return network_status(errno);
    }
    *port = ntohs(address.any.sa_family == AF_INET6 ? address.ip6.sin6_port : address.ip4.sin_port);
    return OS_OK;
}

/* In whole milliseconds, so a little longer rather than shorter. */
static int milliseconds(int64_t timeout_ns)
{
    if (timeout_ns <= 0) {
        return 0;
    }
    const int64_t whole = (timeout_ns + NS_PER_MS - 1) / NS_PER_MS;
    return whole < LONGEST_WAIT_MS ? (int)whole : LONGEST_WAIT_MS;
}

static enum os_status wait_for(int file, short events, int64_t timeout_ns)
{
    struct pollfd waiting = {.fd = file, .events = events};
    const int ready = poll(&waiting, 1, milliseconds(timeout_ns));
    if (ready < 0) {
        return os_status_from_errno(errno);
    }
    return ready == 0 ? OS_TIMED_OUT : OS_OK;
}

enum os_status os_network_accept(struct os_socket listening, int64_t timeout_ns, struct os_socket *made)
{
    made->handle = OS_NO_SOCKET;
    int file = accept(descriptor(listening), NULL, NULL);
    if (file < 0 && network_status(errno) == OS_TIMED_OUT && timeout_ns > 0) {
        const enum os_status status = wait_for(descriptor(listening), POLLIN, timeout_ns);
        if (status != OS_OK) {
            return status;
        }
        file = accept(descriptor(listening), NULL, NULL);
    }
    if (file < 0) {
        /* One that arrived and left again: as if it had never come. */
        return errno == ECONNABORTED ? OS_TIMED_OUT : network_status(errno);
    }
    return make_connection(file, made);
}

/* Until the other side has answered, in slices, so that a stop is heeded. */
static enum os_status await_connection(int file, int64_t timeout_ns)
{
    const int64_t give_up_ns = os_now_ns() + timeout_ns;
    enum os_status status = OS_TIMED_OUT;
    while (status == OS_TIMED_OUT || status == OS_INTERRUPTED) {
        const int64_t left_ns = give_up_ns - os_now_ns();
        if (os_stop_requested() != OS_STOP_NONE) {
            return OS_INTERRUPTED;
        }
        if (left_ns <= 0) {
            return OS_TIMED_OUT;
        }
        const int64_t slice_ns = (int64_t)LOOK_INTERVAL_MS * NS_PER_MS;
        status = wait_for(file, POLLOUT, left_ns < slice_ns ? left_ns : slice_ns);
    }
    if (status == OS_OK) {
        int error = 0;
        socklen_t length = sizeof error;
        status = network_status(getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno);
    }
    return status;
}

enum os_status os_network_connect(struct os_socket *made, const char *host, uint16_t port, int64_t timeout_ns)
{
    union network_address address;
    socklen_t length = 0;
    int file = -1;
    made->handle = OS_NO_SOCKET;
    const enum os_status opened = open_for(host, port, &address, &length, &file);
    if (opened != OS_OK) {
        return opened;
    }
    struct os_socket connecting;
    enum os_status status = make_connection(file, &connecting);
    if (status != OS_OK) {
        return status;
    }
    if (connect(file, &address.any, length) != 0) {
        const bool under_way = errno == EINPROGRESS || errno == EINTR;
        status = under_way ? await_connection(file, timeout_ns) : network_status(errno);
    }
    if (status != OS_OK) {
        close(file);
        return status;
    }
    *made = connecting;
    return OS_OK;
}

/* Reset rather than ended: an ended connection keeps its port busy for a minute more. */
void os_network_close(struct os_socket *socket)
{
    if (socket->handle != OS_NO_SOCKET) {
        const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
        (void)setsockopt(descriptor(*socket), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once); /* it ends either way */
        close(descriptor(*socket));
        socket->handle = OS_NO_SOCKET;
    }
}

enum os_status os_network_send(struct os_socket socket, const void *data, size_t bytes, int64_t timeout_ns,
                               size_t *sent)
{
    *sent = 0;
    ssize_t done = send(descriptor(socket), data, bytes, MSG_NOSIGNAL);
    if (done < 0 && network_status(errno) == OS_TIMED_OUT && timeout_ns > 0) {
        const enum os_status status = wait_for(descriptor(socket), POLLOUT, timeout_ns);
        if (status != OS_OK) {
            return status;
        }
        done = send(descriptor(socket), data, bytes, MSG_NOSIGNAL);
    }
    if (done < 0) {
        return network_status(errno);
    }
    *sent = (size_t)done;
    return OS_OK;
}

enum os_status os_network_receive(struct os_socket socket, void *data, size_t bytes, int64_t timeout_ns,
                                  size_t *received)
{
    *received = 0;
    ssize_t got = recv(descriptor(socket), data, bytes, 0);
    if (got < 0 && network_status(errno) == OS_TIMED_OUT && timeout_ns > 0) {
        const enum os_status status = wait_for(descriptor(socket), POLLIN, timeout_ns);
        if (status != OS_OK) {
            return status;
        }
        got = recv(descriptor(socket), data, bytes, 0);
    }
    if (got < 0) {
        return network_status(errno);
    }
    *received = (size_t)got;
    return got == 0 ? OS_CLOSED : OS_OK;
}

enum os_status os_network_allow(uint64_t sockets, uint64_t *most)
{
    static const uint64_t others = 32; /* standard streams, devices, room to spare */
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return os_status_from_errno(errno);
    }
    const rlim_t wanted = (rlim_t)(sockets + others);
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < wanted) {
        const struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
            limit.rlim_cur = raised.rlim_cur;
        }
    }
    const bool unlimited = limit.rlim_cur == RLIM_INFINITY;
    *most = unlimited ? UINT64_MAX : (uint64_t)limit.rlim_cur;
    return unlimited || limit.rlim_cur >= wanted ? OS_OK : OS_NO_MEMORY;
}

struct os_wait_set {
    size_t places;
    struct pollfd waiting[];
};

enum os_status os_wait_set_create(struct os_wait_set **set, size_t places)
{
    *set = calloc(1, sizeof **set + places * sizeof(*set)->waiting[0]);
    if (*set == NULL) {
        return OS_NO_MEMORY;
    }
    (*set)->places = places;
    for (size_t place = 0; place < places; place++) {
        (*set)->waiting[place].fd = -1; /* poll(2) passes over it */
    }
    return OS_OK;
}

void os_wait_set_destroy(struct os_wait_set *set)
{
    free(set);
}

void os_wait_set_put(struct os_wait_set *set, size_t place, struct os_socket socket, enum os_awaited awaited)
{
    struct pollfd *const waiting = &set->waiting[place];
    waiting->fd = awaited == OS_AWAIT_NOTHING ? -1 : descriptor(socket);
    waiting->events = (short)((awaited == OS_AWAIT_INPUT ? POLLIN : 0) | (awaited == OS_AWAIT_OUTPUT ? POLLOUT : 0));
    waiting->revents = 0;
}

enum os_status os_wait_set_wait(struct os_wait_set *set, int64_t timeout_ns)
{
    const int ready = poll(set->waiting, (nfds_t)set->places, milliseconds(timeout_ns));
    if (ready > 0) {
        return OS_OK;
    }
    const enum os_status status = ready == 0 ? OS_TIMED_OUT : os_status_from_errno(errno);
    for (size_t place = 0; place < set->places; place++) {
        set->waiting[place].revents = 0;
    }
    return status;
}

bool os_wait_set_is_ready(const struct os_wait_set *set, size_t place)
{
    return set->waiting[place].revents != 0;
}
