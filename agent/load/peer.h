/*
 * What the loads with a server and clients share: which side this process is, and whole messages over connections
 * that may go away. A side that goes away, or says nothing for long, is a failure of the load: it no longer loads.
 */
#ifndef TAUTO_LOAD_PEER_H
#define TAUTO_LOAD_PEER_H

#include "load/load.h"
#include "os/network.h"

enum peer_role {
    PEER_BOTH,   /* over the loopback of this machine, on a port of the system's choice, both sides in this process */
    PEER_SERVER, /* waits for clients for as long as the load lasts */
    PEER_CLIENT, /* of a server that is there already */
};

enum { PEER_OPTIONS = 3 };

/* Part of a load's settings. */
struct peer {
    int role; /* enum peer_role */
    const char *host;
    int64_t port;
    int64_t patience_ns;        /* for the other side to say anything */
    struct os_socket listening; /* role server */
};

/* Writes the defaults and PEER_OPTIONS options: role, host, port. */
void peer_options(struct peer *peer, struct option *table);
const char *peer_role_name(const struct peer *peer);

/* Opens what the role needs: `connections` of them. Role both: both ends of each, `at_server` and `at_client`; role
 * client: `at_client`; role server: the place where they will arrive, and more time for the load to start. All three
 * are OS_NO_SOCKET otherwise. Returns an exit code; refusals are told, and nothing is left open then. */
int peer_open(struct load_run *run, struct peer *peer, uint32_t connections, struct os_socket *at_server,
              struct os_socket *at_client);
void peer_close(struct peer *peer, uint32_t connections, struct os_socket *at_server, struct os_socket *at_client);

/* All of it. OS_INTERRUPTED: the load must end. OS_TIMED_OUT: nothing moved for as long as patience lasts. */
enum os_status peer_send(const struct load_thread *thread, const struct peer *peer, struct os_socket socket,
                         const uint8_t *data, size_t bytes);
enum os_status peer_receive(const struct load_thread *thread, const struct peer *peer, struct os_socket socket,
                            uint8_t *data, size_t bytes);
/* Role server: the next client. OS_INTERRUPTED: the load must end. */
enum os_status peer_accept(const struct load_thread *thread, const struct peer *peer, struct os_socket *socket);

#endif
