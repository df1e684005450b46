/* See sockets.h. */
#include "transport/sockets.h"

#include "control.h"
#include "os/posix/network_address.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/time.h>
#include <unistd.h>

static const int64_t ns_per_s = 1000000000;
enum { NS_PER_US = 1000 };

bool socket_be_patient(int file, bool sends, int64_t patience_ns)
{
    /* Up to the next microsecond: none at all would be for ever. */
    const struct timeval patience = {.tv_sec = patience_ns / ns_per_s,
                                     .tv_usec = (patience_ns % ns_per_s + NS_PER_US - 1) / NS_PER_US};
    return setsockopt(file, SOL_SOCKET, sends ? SO_SNDTIMEO : SO_RCVTIMEO, &patience, sizeof patience) == 0;
}

enum os_status socket_status(int error)
{
    const enum os_status status = network_status(error);
    return status == OS_REFUSED ? OS_CLOSED : status;
}

enum os_status socket_give_up(int *file)
{
    const enum os_status status = network_status(errno);
    close(*file);
    *file = SOCKET_NONE;
    return status == OS_OK ? OS_FAILED : status;
}

/* Nothing is held back until more comes. On the endpoint it holds for every connection that arrives there. */
static bool hurries(int type, int file)
{
    const int on = 1;
    return type != SOCK_STREAM || setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
}

static enum os_status inet_socket(int type, const union network_address *address, int *file)
{
    *file = socket(address->any.sa_family, type | SOCK_CLOEXEC, 0);
    return *file < 0 ? network_status(errno) : OS_OK;
}

enum os_status inet_open(int type, const char *host, int *file, char endpoint[ENDPOINT_BYTES])
{
    union network_address address;
    socklen_t length = network_address_read(host, 0, &address);
    *file = SOCKET_NONE;
    if (length == 0) {
        return OS_INVALID;
    }
    const enum os_status status = inet_socket(type, &address, file);
    if (status != OS_OK) {
        return status;
    }
    if (!hurries(type, *file) || bind(*file, &address.any, length) != 0 ||
        getsockname(*file, &address.any, &length) != 0) {
        return socket_give_up(file);
    }
    const bool six = address.any.sa_family == AF_INET6;
    control_address_write(endpoint, ENDPOINT_BYTES, host, ntohs(six ? address.ip6.sin6_port : address.ip4.sin_port));
    return OS_OK;
}

enum os_status inet_reach(int type, const char *endpoint, int64_t patience_ns, int *file)
{
    char host[HOST_BYTES];
    uint16_t port = 0;
    union network_address address;
    *file = SOCKET_NONE;
    if (!control_address_read(endpoint, host, &port)) {
        return OS_INVALID;
    }
    const socklen_t length = network_address_read(host, port, &address);
    const enum os_status status = inet_socket(type, &address, file);
    if (status != OS_OK) {
        return status;
    }
    if (!hurries(type, *file) || !socket_be_patient(*file, true, patience_ns) ||
        connect(*file, &address.any, length) != 0) {
        return socket_give_up(file);
    }
    return OS_OK;
}
