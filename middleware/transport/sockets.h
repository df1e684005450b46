/* What the socket transports have in common: opening and reaching endpoints, patience. */
#ifndef TAUTO_SOCKETS_H
#define TAUTO_SOCKETS_H

#include "transport.h"

enum { SOCKET_NONE = -1 };

/* A receive (`sends`: a send) that waits longer fails with EAGAIN; 0: it waits for ever. Set once, so that it costs
 * nothing when it is needed. */
bool socket_be_patient(int file, bool sends, int64_t patience_ns);
/* errno of a socket to which a servant was connected: a server that is gone says so in several ways. */
enum os_status socket_status(int error);
/* Closes it and says why: of errno, before it is lost. */
enum os_status socket_give_up(int *file);

/* IPv4 and IPv6; `type` as socket(2) has it. `endpoint`: a number of this machine's and a free port, "[::1]:4711". */
enum os_status inet_open(int type, const char *host, int *file, char endpoint[ENDPOINT_BYTES]);
/* OS_INVALID: that is no endpoint of this kind. */
enum os_status inet_reach(int type, const char *endpoint, int64_t patience_ns, int *file);

#endif
