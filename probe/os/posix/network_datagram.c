/* UDP sockets that never block. They are connected, so that the system tells when nobody is there. */
#include "os/network.h"

#include "network_address.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum os_status os_datagram_open(struct os_socket *made, const char *host, uint16_t port)
{
    union network_address address;
    const socklen_t length = network_address_read(host, port, &address);
    made->handle = OS_NO_SOCKET;
    if (length == 0) {
        return OS_INVALID;
    }
    const int file = socket(address.any.sa_family, SOCK_DGRAM, 0);
    if (file < 0) {
        return network_status(errno);
    }
    if (fcntl(file, F_SETFL, O_NONBLOCK) != 0 || fcntl(file, F_SETFD, FD_CLOEXEC) != 0 ||
        connect(file, &address.any, length) != 0) {
        const int error = errno;
        close(file);
        return network_status(error);
    }
    made->handle = file;
    return OS_OK;
}

enum os_status os_datagram_send(struct os_socket socket, const void *data, size_t bytes)
{
    return send((int)socket.handle, data, bytes, MSG_NOSIGNAL) < 0 ? network_status(errno) : OS_OK;
}
