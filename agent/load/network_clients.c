/* The clients: one thread, each client with a schedule of its own. */
#include "load/network.h"
#include "load/rest.h"

#include <stdlib.h>
#include <string.h>

static const int64_t slice_ns = 10000000; /* so long until a stop is heeded */

struct client {
    uint8_t request[NETWORK_REQUEST_BYTES];
    uint32_t asked;
    size_t to_come; /* of its answer; 0: it has asked for nothing */
};

struct clients {
    struct load_thread *thread;
    struct network *settings;
    struct os_wait_set *waiting;
    struct client *clients;
    uint8_t *piece; /* NETWORK_PIECE_BYTES of an answer, not kept */
    int64_t start_ns;
    int64_t round;    /* the request that is due next: each client's so many-th, */
    int64_t turn;     /* and whose it is */
    int64_t heard_ns; /* when the last bytes came, at first: the start */
};

/* Client k's request i is due at start + i * period + k * interval. */
static int64_t due_ns(const struct clients *all)
{
    const struct network *const settings = all->settings;
    return all->start_ns + all->round * settings->period_ns + all->turn * settings->interval_ns;
}

static bool failed(const struct clients *all, enum os_status status)
{
    if (status == OS_OK || status == OS_INTERRUPTED) {
        return false;
    }
    load_failed(all->thread, "a client's connection to the server", status);
    return true;
}

static void go_on_to_next(struct clients *all)
{
    all->turn++;
    if (all->turn >= all->settings->clients) {
        all->turn = 0;
        all->round++;
    }
}

static bool ask(struct clients *all, size_t number)
{
    struct client *const client = &all->clients[number];
    struct network *const settings = all->settings;
    if (client->to_come > 0) {
        settings->late++;
        return true;
    }
    network_write_number(client->request, client->asked++);
    network_write_number(client->request + 4, (uint32_t)settings->bytes);
    client->to_come = (size_t)settings->bytes;
    return !failed(all, peer_send(all->thread, &settings->peer, settings->at_client[number], client->request,
                                  sizeof client->request));
}

/* Who was away from the CPU for longer than a period asks once; the rest was late. */
static bool ask_what_is_due(struct clients *all)
{
    const int64_t now_ns = os_now_ns();
    bool goes_on = true;
    while (goes_on && due_ns(all) <= now_ns) {
        goes_on = ask(all, (size_t)all->turn);
        go_on_to_next(all);
    }
    return goes_on;
}

/* What has arrived of an answer that begins `at` bytes before it: is it the one that was asked for? */
static bool is_its_answer(const struct client *client, size_t at, const uint8_t *piece, size_t bytes)
{
    if (at >= NETWORK_REQUEST_BYTES) {
        return true;
    }
    const size_t left = NETWORK_REQUEST_BYTES - at;
    return memcmp(client->request + at, piece, left < bytes ? left : bytes) == 0;
}

static bool receive_some(struct clients *all, size_t number)
{
    struct client *const client = &all->clients[number];
    struct network *const settings = all->settings;
    enum os_status status = OS_OK;
    while (status == OS_OK) {
        const size_t most = client->to_come > 0 ? client->to_come : 1; /* nothing is to come: is the server gone? */
        size_t received = 0;
        status = os_network_receive(settings->at_client[number], all->piece,
                                    most < NETWORK_PIECE_BYTES ? most : NETWORK_PIECE_BYTES, 0, &received);
        if (received == 0) {
            break;
        }
        const size_t at = (size_t)settings->bytes - client->to_come;
        if (client->to_come == 0 || !is_its_answer(client, at, all->piece, received)) {
            load_failed(all->thread, "the server's answer is not what was asked for", OS_OK);
            return false;
        }
        all->heard_ns = os_now_ns();
        client->to_come -= received;
        if (client->to_come == 0) {
            settings->answers++;
            load_did(all->thread, 1, (uint64_t)settings->bytes + NETWORK_REQUEST_BYTES);
            return true;
        }
    }
    return status == OS_TIMED_OUT || !failed(all, status);
}

static bool receive_all(struct clients *all)
{
    bool goes_on = true;
    for (size_t number = 0; goes_on && number < (size_t)all->settings->clients; number++) {
        if (os_wait_set_is_ready(all->waiting, number)) {
            goes_on = receive_some(all, number);
        }
    }
    return goes_on;
}

/* Until something arrives, the next request is due, or it is time to look whether to end. */
static bool wait_and_receive(struct clients *all)
{
    const int64_t now_ns = os_now_ns();
    const int64_t left_ns = due_ns(all) - now_ns;
    const int64_t patience_ns = all->settings->peer.patience_ns;
    const bool late = now_ns - all->heard_ns > patience_ns; /* before it looks: it may not have had the CPU for long */
    const enum os_status status = os_wait_set_wait(all->waiting, left_ns < slice_ns ? left_ns : slice_ns);
    if (status == OS_OK) {
        return receive_all(all);
    }
    if (status == OS_TIMED_OUT) {
        return !late || !failed(all, OS_TIMED_OUT);
    }
    return !failed(all, status);
}

static void ask_all(struct clients *all)
{
    struct network *const settings = all->settings;
    struct rest rest = rest_begin();
    for (size_t number = 0; number < (size_t)settings->clients; number++) {
        os_wait_set_put(all->waiting, number, settings->at_client[number], OS_AWAIT_INPUT);
    }
    all->start_ns = os_now_ns();
    all->heard_ns = all->start_ns;
    while (!load_must_end(all->thread) && ask_what_is_due(all) && wait_and_receive(all)) {
        rest_when_due(&rest, all->thread);
    }
    const int64_t end_ns = os_now_ns();
    settings->asked_for_ns = end_ns - all->start_ns;
    for (; due_ns(all) <= end_ns; go_on_to_next(all)) {
        settings->late++; /* was due, but the thread was not given the CPU in time */
    }
}

void network_ask(struct load_thread *thread)
{
    struct network *const settings = thread->run->settings;
    const size_t clients = (size_t)settings->clients;
    struct clients all = {
        .thread = thread,
        .settings = settings,
        .clients = calloc(clients, sizeof *all.clients),
        .piece = calloc(1, NETWORK_PIECE_BYTES),
    };
    if (all.clients == NULL || all.piece == NULL || os_wait_set_create(&all.waiting, clients) != OS_OK) {
        load_failed(thread, "there is no room for the clients", OS_NO_MEMORY);
    } else {
        ask_all(&all);
        os_wait_set_destroy(all.waiting);
    }
    free(all.clients);
    free(all.piece);
}
