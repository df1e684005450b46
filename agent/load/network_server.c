/* The server: one thread, all connections at once, none of which it waits for alone. */
#include "load/network.h"
#include "load/rest.h"

#include <stdlib.h>
#include <string.h>

static const int64_t slice_ns = 10000000; /* so long until a stop is heeded */

/* One client. The answer begins with the request, so the request stays until the answer is out. */
struct attended {
    uint8_t request[NETWORK_REQUEST_BYTES];
    size_t received;
    size_t to_send;
    size_t sent;
};

struct server {
    struct load_thread *thread;
    struct network *settings;
    struct os_wait_set *waiting; /* a place for each client, and the last for new ones */
    struct attended *attended;
    uint8_t *piece;   /* NETWORK_PIECE_BYTES of an answer; its beginning is written for each */
    int64_t heard_ns; /* when a connection was last ready for anything */
};

static bool gone(const struct server *server, enum os_status status)
{
    if (status == OS_OK || status == OS_TIMED_OUT || status == OS_INTERRUPTED) {
        return false; /* another time */
    }
    load_failed(server->thread, "the server's connection to a client", status);
    return true;
}

/* As much of the answer as the connection takes now. */
static enum os_status send_some(const struct server *server, size_t client)
{
    struct attended *const attended = &server->attended[client];
    enum os_status status = OS_OK;
    while (status == OS_OK && attended->sent < attended->to_send) {
        const size_t at = attended->sent < NETWORK_PIECE_BYTES ? attended->sent : NETWORK_REQUEST_BYTES;
        const size_t left = attended->to_send - attended->sent;
        const size_t here = (size_t)NETWORK_PIECE_BYTES - at;
        size_t sent = 0;
        memcpy(server->piece, attended->request, NETWORK_REQUEST_BYTES);
        status = os_network_send(server->settings->at_server[client], server->piece + at, left < here ? left : here, 0,
                                 &sent);
        attended->sent += sent;
    }
    return status;
}

/* Goes on with an answer; when it is out, waits for the next request. */
static void answer(const struct server *server, size_t client)
{
    struct attended *const attended = &server->attended[client];
    const struct network *const settings = server->settings;
    if (gone(server, send_some(server, client))) {
        return;
    }
    const bool is_out = attended->sent == attended->to_send;
    os_wait_set_put(server->waiting, client, settings->at_server[client], is_out ? OS_AWAIT_INPUT : OS_AWAIT_OUTPUT);
    if (!is_out) {
        return;
    }
    if (settings->peer.role == PEER_SERVER) {
        load_did(server->thread, 1, attended->to_send + NETWORK_REQUEST_BYTES);
    } else {
        load_takes_part(server->thread); /* the clients count */
    }
    *attended = (struct attended){.received = 0};
}

static void listen_to(const struct server *server, size_t client)
{
    struct attended *const attended = &server->attended[client];
    size_t received = 0;
    const enum os_status status =
        os_network_receive(server->settings->at_server[client], attended->request + attended->received,
                           NETWORK_REQUEST_BYTES - attended->received, 0, &received);
    attended->received += received;
    if (gone(server, status) || attended->received < NETWORK_REQUEST_BYTES) {
        return;
    }
    attended->to_send = network_read_number(attended->request + 4);
    if (attended->to_send < NETWORK_REQUEST_BYTES || attended->to_send > NETWORK_MOST_BYTES) {
        load_failed(server->thread, "somebody who is no client of this load sent something to its server", OS_OK);
        return;
    }
    answer(server, client);
}

static void attend(const struct server *server, size_t client)
{
    if (!os_wait_set_is_ready(server->waiting, client)) {
        return;
    }
    if (server->attended[client].to_send > 0) {
        answer(server, client);
    } else {
        listen_to(server, client);
    }
}

/* Role server: those who have arrived. When all are here, nobody else is let in. */
static void let_in(const struct server *server)
{
    struct network *const settings = server->settings;
    const size_t door = (size_t)settings->clients;
    enum os_status status = os_wait_set_is_ready(server->waiting, door) ? OS_OK : OS_TIMED_OUT;
    while (status == OS_OK && settings->most_clients < (uint32_t)settings->clients) {
        const uint32_t client = settings->most_clients;
        status = os_network_accept(settings->peer.listening, 0, &settings->at_server[client]);
        if (status == OS_OK) {
            os_wait_set_put(server->waiting, client, settings->at_server[client], OS_AWAIT_INPUT);
            settings->most_clients++;
        }
    }
    if (settings->most_clients == (uint32_t)settings->clients) {
        os_network_close(&settings->peer.listening);
        os_wait_set_put(server->waiting, door, settings->peer.listening, OS_AWAIT_NOTHING);
    } else if (status != OS_OK && status != OS_TIMED_OUT && status != OS_INTERRUPTED) {
        load_failed(server->thread, "the server can't let a client in", status);
    }
}

/* Role server: clients that are there and silent for long may have lost their machine or their cable. */
static bool waits_in_vain(const struct server *server, int64_t now_ns)
{
    const struct network *const settings = server->settings;
    const bool has_clients = settings->peer.role == PEER_SERVER && settings->most_clients > 0;
    return has_clients && now_ns - server->heard_ns > settings->peer.patience_ns;
}

static void attend_all(struct server *server)
{
    const bool late = waits_in_vain(server, os_now_ns()); /* before it looks: it may not have had the CPU for long */
    const enum os_status status = os_wait_set_wait(server->waiting, slice_ns);
    if (status == OS_OK) {
        server->heard_ns = os_now_ns();
        for (size_t client = 0; client < (size_t)server->settings->clients; client++) {
            attend(server, client);
        }
        let_in(server);
    } else if (status == OS_TIMED_OUT && late) {
        load_failed(server->thread, "the clients ask for nothing any more", OS_TIMED_OUT);
    } else {
        (void)gone(server, status);
    }
}

static void serve_all(struct server *server)
{
    const struct network *const settings = server->settings;
    const size_t clients = (size_t)settings->clients;
    const bool both = settings->peer.role == PEER_BOTH;
    struct rest rest = rest_begin();
    for (size_t client = 0; both && client < clients; client++) {
        os_wait_set_put(server->waiting, client, settings->at_server[client], OS_AWAIT_INPUT);
    }
    if (!both) {
        os_wait_set_put(server->waiting, clients, settings->peer.listening, OS_AWAIT_INPUT);
    }
    while (!load_must_end(server->thread)) {
        attend_all(server);
        rest_when_due(&rest, server->thread);
    }
}

void network_serve(struct load_thread *thread)
{
    struct network *const settings = thread->run->settings;
    const size_t clients = (size_t)settings->clients;
    struct server server = {
        .thread = thread,
        .settings = settings,
        .attended = calloc(clients, sizeof *server.attended),
        .piece = calloc(1, NETWORK_PIECE_BYTES),
    };
    if (server.attended == NULL || server.piece == NULL || os_wait_set_create(&server.waiting, clients + 1) != OS_OK) {
        load_failed(thread, "the server has no room for its clients", OS_NO_MEMORY);
    } else {
        serve_all(&server);
        os_wait_set_destroy(server.waiting);
    }
    free(server.attended);
    free(server.piece);
}
