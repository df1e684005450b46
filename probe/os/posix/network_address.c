#include "network_address.h"

#include "status.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

enum os_status network_status(int error)
{
    if (error == EAGAIN || error == EWOULDBLOCK || error == EINPROGRESS) {
        return OS_TIMED_OUT;
    }
    if (error == EPIPE || error == ENOTCONN) {
        return OS_CLOSED;
    }
    return error == EAFNOSUPPORT ? OS_UNREACHABLE : os_status_from_errno(error);
}

socklen_t network_address_read(const char *host, uint16_t port, union network_address *address)
{
    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, host, &address->ip4.sin_addr) == 1) {
        address->ip4.sin_family = AF_INET;
        address->ip4.sin_port = htons(port);
        return sizeof address->ip4;
    }
    if (inet_pton(AF_INET6, host, &address->ip6.sin6_addr) == 1) {
        address->ip6.sin6_family = AF_INET6;
        address->ip6.sin6_port = htons(port);
        return sizeof address->ip6;
    }
    return 0;
}
