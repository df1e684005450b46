/* Datagrams to a viewer of the tire: Winsock. */
#include "os/network.h"

#include "format.h"

#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>
#include <ws2tcpip.h>

static bool begin(void)
{
    static bool begun;
    WSADATA data;
    begun = begun || WSAStartup(MAKEWORD(2, 2), &data) == 0;
    return begun;
}

/* NULL: not an address. */
static struct addrinfo *address_of(const char *host, uint16_t port)
{
    const struct addrinfo wanted = {
        .ai_flags = AI_NUMERICHOST, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM, .ai_protocol = IPPROTO_UDP};
    char service[8];
    struct addrinfo *found = NULL;
    format_text(service, sizeof service, "%u", (unsigned)port);
    return begin() && getaddrinfo(host, service, &wanted, &found) == 0 ? found : NULL;
}

bool os_network_is_address(const char *host)
{
    struct addrinfo *const found = address_of(host, 0);
    if (found == NULL) {
        return false;
    }
    freeaddrinfo(found);
    return true;
}

static enum os_status status_of(int error)
{
    switch (error) {
    case WSAEWOULDBLOCK:
        return OS_TIMED_OUT;
    case WSAECONNREFUSED:
    case WSAECONNRESET: /* what an earlier datagram met */
        return OS_REFUSED;
    case WSAENETUNREACH:
    case WSAEHOSTUNREACH:
    case WSAEADDRNOTAVAIL:
        return OS_UNREACHABLE;
    case WSAEMFILE:
    case WSAENOBUFS:
        return OS_NO_MEMORY;
    default:
        return OS_FAILED;
    }
}

enum os_status os_datagram_open(struct os_socket *to, const char *host, uint16_t port)
{
    u_long never_waits = 1;
    to->handle = OS_NO_SOCKET;
    struct addrinfo *const found = address_of(host, port);
    if (found == NULL) {
        return OS_INVALID;
    }
    const SOCKET made = socket(found->ai_family, SOCK_DGRAM, IPPROTO_UDP);
    const bool done = made != INVALID_SOCKET && connect(made, found->ai_addr, (int)found->ai_addrlen) == 0 &&
                      ioctlsocket(made, (long)FIONBIO, &never_waits) == 0;
    const enum os_status status = done ? OS_OK : status_of(WSAGetLastError());
    freeaddrinfo(found);
    if (done) {
        to->handle = (intptr_t)made;
    } else if (made != INVALID_SOCKET) {
        closesocket(made);
    }
    return status;
}

enum os_status os_datagram_send(struct os_socket to, const void *data, size_t bytes)
{
    return send((SOCKET)to.handle, data, (int)bytes, 0) != SOCKET_ERROR ? OS_OK : status_of(WSAGetLastError());
}

void os_network_close(struct os_socket *closed)
{
    if (closed->handle != OS_NO_SOCKET) {
        closesocket((SOCKET)closed->handle);
    }
    closed->handle = OS_NO_SOCKET;
}
