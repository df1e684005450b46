#include "load/peer.h"

#include <inttypes.h>

enum { HIGHEST_PORT = 65535 };
static const int64_t slice_ns = 10000000;              /* so long until a stop is heeded */
static const int64_t usual_patience_ns = 10000000000;  /* a CPU may be held by what is measured */
static const int64_t connect_patience_ns = 3000000000; /* one lost packet, and one more */

static const char *const role_words[] = {"both", "server", "client", NULL};

void peer_options(struct peer *peer, struct option *table)
{
    *peer = (struct peer){.role = PEER_BOTH, .patience_ns = usual_patience_ns, .listening = {OS_NO_SOCKET}};
    table[0] = (struct option){"role", OPTION_CHOICE, &peer->role, role_words, "of this process [both]", false};
    table[1] = (struct option){"host", OPTION_TEXT, &peer->host, NULL, "IP address of, or for, the server [loopback]",
                               false};
    table[2] = (struct option){"port", OPTION_COUNT, &peer->port, NULL, "of the server, unless role both", false};
}

const char *peer_role_name(const struct peer *peer)
{
    return role_words[peer->role];
}

static int check(struct peer *peer)
{
    if (peer->role == PEER_BOTH && (peer->host != NULL || peer->port != 0)) {
        return refuse(EXIT_USAGE, "--host and --port are for --role server or client; without a role, both sides are "
                                  "here and the system chooses.");
    }
    if (peer->role != PEER_BOTH && (peer->port < 1 || peer->port > HIGHEST_PORT)) {
        return refuse(EXIT_USAGE, "--role %s needs the --port of the server, 1 to %d.", peer_role_name(peer),
                      HIGHEST_PORT);
    }
    if (peer->host == NULL) {
        peer->host = os_network_loopback();
    }
    if (!os_network_is_address(peer->host)) {
        return refuse(EXIT_USAGE, "--host %s: not an IP address.\nWrite one in numbers, as 10.0.0.2 or ::1; names are "
                                  "not looked up.",
                      peer->host);
    }
    return EXIT_MEASURED;
}

static int refuse_listening(const struct peer *peer, enum os_status status)
{
    return refuse(status == OS_NOT_PERMITTED ? EXIT_NOT_PERMITTED : EXIT_FAILED,
                  "the load's server can't listen at %s, port %" PRId64 ": %s.", peer->host, peer->port,
                  os_status_text(status));
}

static int listen_for_clients(struct load_run *run, struct peer *peer, uint32_t connections)
{
    const enum os_status status =
        os_network_listen(&peer->listening, peer->host, (uint16_t)peer->port, connections);
    run->start_patience_ns = run->duration_ns; /* whoever starts the clients has that long */
    return status == OS_OK ? EXIT_MEASURED : refuse_listening(peer, status);
}

static int connect_all(const struct peer *peer, uint32_t connections, struct os_socket *at_client)
{
    for (uint32_t i = 0; i < connections; i++) {
        const enum os_status status =
            os_network_connect(&at_client[i], peer->host, (uint16_t)peer->port, connect_patience_ns);
        if (status != OS_OK) {
            return refuse(EXIT_FAILED, "no connection to the load's server at %s, port %" PRId64 ": %s.\n"
                                       "Is it running? '--role server' starts one.",
                          peer->host, peer->port, os_status_text(status));
        }
    }
    return EXIT_MEASURED;
}

/* One after the other, so that no two ends are mixed up. */
static enum os_status connect_within(const struct peer *peer, struct os_socket listening, uint16_t port,
                                     uint32_t connections, struct os_socket *at_server, struct os_socket *at_client)
{
    enum os_status status = OS_OK;
    for (uint32_t i = 0; i < connections && status == OS_OK; i++) {
        status = os_network_connect(&at_client[i], peer->host, port, connect_patience_ns);
        if (status == OS_OK) {
            status = os_network_accept(listening, connect_patience_ns, &at_server[i]);
        }
    }
    return status;
}

static int connect_pairs(const struct peer *peer, uint32_t connections, struct os_socket *at_server,
                         struct os_socket *at_client)
{
    struct os_socket listening;
    uint16_t port = 0;
    enum os_status status = os_network_listen(&listening, peer->host, 0, 1);
    if (status != OS_OK) {
        return refuse_listening(peer, status);
    }
    status = os_network_port(listening, &port);
    if (status == OS_OK) {
        status = connect_within(peer, listening, port, connections, at_server, at_client);
    }
    os_network_close(&listening);
    return status == OS_OK ? EXIT_MEASURED
                           : refuse(EXIT_FAILED, "no connection over the loopback %s: %s.", peer->host,
                                    os_status_text(status));
}

static int check_room(const struct peer *peer, uint32_t connections)
{
    const uint64_t ends = peer->role == PEER_BOTH ? 2 : 1;
    uint64_t most = 0;
    if (os_network_allow(connections * ends, &most) == OS_OK) {
        return EXIT_MEASURED;
    }
    return refuse(EXIT_NOT_PERMITTED, "%" PRIu32 " connections need more open files than the %" PRIu64 " that this "
                                      "process may have.\nRaise the limit (ulimit -n, LimitNOFILE), or take fewer.",
                  connections, most);
}

int peer_open(struct load_run *run, struct peer *peer, uint32_t connections, struct os_socket *at_server,
              struct os_socket *at_client)
{
    for (uint32_t i = 0; i < connections; i++) {
        at_server[i].handle = OS_NO_SOCKET;
        at_client[i].handle = OS_NO_SOCKET;
    }
    int code = check(peer);
    if (code == EXIT_MEASURED) {
        code = check_room(peer, connections);
    }
    if (code != EXIT_MEASURED) {
        return code;
    }
    switch ((enum peer_role)peer->role) {
    case PEER_BOTH:
        code = connect_pairs(peer, connections, at_server, at_client);
        break;
    case PEER_SERVER:
        code = listen_for_clients(run, peer, connections);
        break;
    case PEER_CLIENT:
        code = connect_all(peer, connections, at_client);
        break;
    }
    if (code != EXIT_MEASURED) {
        peer_close(peer, connections, at_server, at_client);
    }
    return code;
}

void peer_close(struct peer *peer, uint32_t connections, struct os_socket *at_server, struct os_socket *at_client)
{
    for (uint32_t i = 0; i < connections; i++) {
        os_network_close(&at_server[i]);
        os_network_close(&at_client[i]);
    }
    os_network_close(&peer->listening);
}

/* Is this still a reason to try again? `late`: patience was at its end before the attempt, so that a thread that was
 * not given the CPU for long has looked once more before it blames the other side. */
static bool may_try_again(enum os_status status, bool late)
{
    return status == OS_OK || status == OS_INTERRUPTED || (status == OS_TIMED_OUT && !late);
}

enum os_status peer_send(const struct load_thread *thread, const struct peer *peer, struct os_socket socket,
                         const uint8_t *data, size_t bytes)
{
    int64_t since_ns = os_now_ns();
    for (size_t done = 0; done < bytes;) {
        size_t sent = 0;
        const bool late = os_now_ns() - since_ns > peer->patience_ns;
        if (load_must_end(thread)) {
            return OS_INTERRUPTED;
        }
        const enum os_status status = os_network_send(socket, data + done, bytes - done, slice_ns, &sent);
        if (!may_try_again(status, late)) {
            return status;
        }
        if (sent > 0) {
            since_ns = os_now_ns();
        }
        done += sent;
    }
    return OS_OK;
}

enum os_status peer_receive(const struct load_thread *thread, const struct peer *peer, struct os_socket socket,
                            uint8_t *data, size_t bytes)
{
    int64_t since_ns = os_now_ns();
    for (size_t done = 0; done < bytes;) {
        size_t received = 0;
        const bool late = os_now_ns() - since_ns > peer->patience_ns;
        if (load_must_end(thread)) {
            return OS_INTERRUPTED;
        }
        const enum os_status status = os_network_receive(socket, data + done, bytes - done, slice_ns, &received);
        if (!may_try_again(status, late)) {
            return status;
        }
        if (received > 0) {
            since_ns = os_now_ns();
        }
        done += received;
    }
    return OS_OK;
}

enum os_status peer_accept(const struct load_thread *thread, const struct peer *peer, struct os_socket *socket)
{
    enum os_status status = OS_TIMED_OUT;
    while (status == OS_TIMED_OUT || status == OS_INTERRUPTED) {
        if (load_must_end(thread)) {
            return OS_INTERRUPTED;
        }
        status = os_network_accept(peer->listening, slice_ns, socket);
    }
    return status;
}
