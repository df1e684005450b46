/* What every kind of socket needs: an address out of its text, and the system's errors in the words of os.h. */
#ifndef TAUTO_POSIX_NETWORK_ADDRESS_H
#define TAUTO_POSIX_NETWORK_ADDRESS_H

#include "os/os.h"

#include <netinet/in.h>
#include <sys/socket.h>

union network_address {
    struct sockaddr any;
    struct sockaddr_in ip4;
    struct sockaddr_in6 ip6;
};

/* Returns its length, 0 when it is not an address. */
socklen_t network_address_read(const char *host, uint16_t port, union network_address *address);

/* A socket's EAGAIN is "not now", not a lack of memory; its EPIPE is the other side's end. */
enum os_status network_status(int error);

#endif
