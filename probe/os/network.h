/*
 * Streams of bytes between machines, or within one: TCP over IPv4 and IPv6; and datagrams: UDP. Addresses are numbers,
 * never names, so that nothing is looked up. No call blocks longer than its timeout; 0 never waits. What is sent leaves
 * at once.
 *
 * A timeout is over at the earliest when it says, and a millisecond or so later than that at the latest.
 */
#ifndef TAUTO_OS_NETWORK_H
#define TAUTO_OS_NETWORK_H

#include "os/os.h"

/* One end of a connection, or a place where connections arrive. */
struct os_socket {
    intptr_t handle; /* the system's own; OS_NO_SOCKET: none */
};
enum { OS_NO_SOCKET = -1 };

/* Is it written as an address: 10.0.0.2, ::1? */
bool os_network_is_address(const char *host);
/* This machine's own address, which no other machine reaches: that of IPv4, or of IPv6 where there is no IPv4. */
const char *os_network_loopback(void);
/* May this process have so many sockets and files open at a time? Raises its own limit as far as it is allowed to.
 * `most` is what it has then. OS_NO_MEMORY: they are too few. */
enum os_status os_network_allow(uint64_t sockets, uint64_t *most);

/* Connections to `host` and `port` arrive here from now on; `waiting` of them may wait to be accepted. Port 0: one
 * that is free. OS_INVALID: not an address. OS_IN_USE, OS_UNREACHABLE: not an address of this machine. */
enum os_status os_network_listen(struct os_socket *socket, const char *host, uint16_t port, uint32_t waiting);
/* The port on which this socket is. */
enum os_status os_network_port(struct os_socket socket, uint16_t *port);
/* The next connection that has arrived. OS_TIMED_OUT: none came. */
enum os_status os_network_accept(struct os_socket listening, int64_t timeout_ns, struct os_socket *socket);
/* OS_INVALID: not an address. OS_REFUSED, OS_UNREACHABLE, OS_TIMED_OUT. OS_INTERRUPTED: os_stop_requested(). */
enum os_status os_network_connect(struct os_socket *socket, const char *host, uint16_t port, int64_t timeout_ns);
/* At once: what is still under way is thrown away, and the port is free for the next. Sets OS_NO_SOCKET. */
void os_network_close(struct os_socket *socket);

/* Sends what the connection takes, at least one byte, at most `bytes` (> 0); waits until it takes any. `sent` says how
 * many it were. OS_TIMED_OUT: none. OS_CLOSED: the other side is gone. OS_INTERRUPTED: by a signal, none were sent. */
enum os_status os_network_send(struct os_socket socket, const void *data, size_t bytes, int64_t timeout_ns,
                               size_t *sent);
/* Receives what has arrived, at least one byte, at most `bytes` (> 0). Otherwise as os_network_send. */
enum os_status os_network_receive(struct os_socket socket, void *data, size_t bytes, int64_t timeout_ns,
                                  size_t *received);

/* ---- Datagrams ---------------------------------------------------------- */

/* What is sent on this socket goes to `host` and `port`. Nobody need be there. OS_INVALID: not an address.
 * OS_UNREACHABLE. To be closed by os_network_close. */
enum os_status os_datagram_open(struct os_socket *socket, const char *host, uint16_t port);
/* Never waits. It arrives whole or not at all, and OS_OK does not say which. OS_TIMED_OUT: there is no room for it now.
 * OS_REFUSED: one that was sent before found nobody there; this one is still to be sent. */
enum os_status os_datagram_send(struct os_socket socket, const void *data, size_t bytes);

/* ---- Waiting for many --------------------------------------------------- */

enum os_awaited {
    OS_AWAIT_NOTHING = 0,
    OS_AWAIT_INPUT = 1,  /* something has arrived: bytes, a connection, or the end of one */
    OS_AWAIT_OUTPUT = 2, /* the connection takes more */
};

/* Places 0 … places - 1, each for one socket; none is there at first. For one thread. */
struct os_wait_set;
enum os_status os_wait_set_create(struct os_wait_set **set, size_t places);
void os_wait_set_destroy(struct os_wait_set *set); /* the sockets stay open */
/* From now on this socket is at that place, and this is waited for. */
void os_wait_set_put(struct os_wait_set *set, size_t place, struct os_socket socket, enum os_awaited awaited);
/* Until one of them is ready. OS_TIMED_OUT: none was. OS_INTERRUPTED: by a signal. */
enum os_status os_wait_set_wait(struct os_wait_set *set, int64_t timeout_ns);
/* Was this one ready when the wait ended? What is at its end is ready for whatever is awaited. */
bool os_wait_set_is_ready(const struct os_wait_set *set, size_t place);

#endif
