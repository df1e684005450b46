/*
 * The comms server and comms client of laurich2004 (6.1): the client sends a block of 60,000 bytes over TCP; the server
 * waits for the whole block, copies it into an output buffer, and sends that back; the client compares every byte with
 * what it sent, and sends the next block, of which every byte differs from the one before. A wrong answer ends the load
 * as a failure.
 *
 * Each pair of server and client is a connection with a thread at each of its ends. `both` has them in this process,
 * over the loopback: server, client, server, client … go to the chosen CPUs in turn, so that two CPUs stand for the
 * paper's two machines. `server` and `client` are one side each, on two machines; both need the same --bytes and
 * --pause. The paper's target runs the server, and a server that waits long for a client is none: the load counts as
 * running when each of its threads has done one exchange. Real-time threads rest as load/rest.h says.
 *
 * operations: exchanges that a client found right; role server: blocks that it sent back. bytes: both directions. The
 * report adds `role`, `pairs` and `message_bytes`.
 */
#include "load/peer.h"
#include "load/rest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 * 1024 * 1024, MOST_PAIRS = 1000, PATTERN_PERIOD = 251 };
static const int64_t longest_pause_ns = 3600LL * 1000000000;

struct settings {
    struct peer peer;
    int64_t bytes;
    int64_t pairs;
    int64_t pause_ns;
    struct os_socket *at_server; /* one for each pair */
    struct os_socket *at_client;
    uint8_t *pattern; /* a block begins at any of its first PATTERN_PERIOD bytes */
};

static size_t options(void *settings, struct option *table)
{
    struct settings *const own = settings;
    own->bytes = 60000;
    own->pairs = 1;
    peer_options(&own->peer, table);
    table[PEER_OPTIONS] = (struct option){"bytes", OPTION_SIZE, &own->bytes, NULL, "of each message [60kB]", false};
    table[PEER_OPTIONS + 1] =
        (struct option){"pairs", OPTION_COUNT, &own->pairs, NULL, "of server and client, a connection each", false};
    table[PEER_OPTIONS + 2] =
        (struct option){"pause", OPTION_DURATION, &own->pause_ns, NULL, "between two exchanges [0s]", false};
    return PEER_OPTIONS + 3;
}

static void serve(struct load_thread *thread, struct os_socket *socket, uint8_t *incoming, uint8_t *outgoing)
{
    struct settings *const settings = thread->run->settings;
    const struct peer *const peer = &settings->peer;
    const size_t bytes = (size_t)settings->bytes;
    struct rest rest = rest_begin();
    enum os_status status = OS_OK;
    if (peer->role == PEER_SERVER) {
        status = peer_accept(thread, peer, socket);
    }
    while (status == OS_OK && !load_must_end(thread)) {
        status = peer_receive(thread, peer, *socket, incoming, bytes);
        if (status == OS_OK) {
            memcpy(outgoing, incoming, bytes);
            status = peer_send(thread, peer, *socket, outgoing, bytes);
        }
        if (status == OS_OK && peer->role == PEER_SERVER) {
            load_did(thread, 1, 2 * bytes);
        } else if (status == OS_OK) {
            load_takes_part(thread); /* its client counts */
        }
        rest_when_due(&rest, thread);
    }
    if (status != OS_OK && status != OS_INTERRUPTED) {
        load_failed(thread, "the server's connection to its client", status);
    }
}

static void ask(struct load_thread *thread, struct os_socket socket, uint8_t *incoming)
{
    const struct settings *const settings = thread->run->settings;
    const struct peer *const peer = &settings->peer;
    const size_t bytes = (size_t)settings->bytes;
    struct rest rest = rest_begin();
    enum os_status status = OS_OK;
    for (uint64_t number = 0; status == OS_OK && !load_must_end(thread); number++) {
        const uint8_t *const outgoing = settings->pattern + number % PATTERN_PERIOD;
        status = peer_send(thread, peer, socket, outgoing, bytes);
        if (status == OS_OK) {
            status = peer_receive(thread, peer, socket, incoming, bytes);
        }
        if (status == OS_OK && memcmp(incoming, outgoing, bytes) != 0) {
            load_failed(thread, "the server's answer differs from what was sent to it", OS_OK);
            return;
        }
        if (status == OS_OK) {
            load_did(thread, 1, 2 * bytes);
            rest_until(thread, os_now_ns() + settings->pause_ns);
        }
        rest_when_due(&rest, thread);
    }
    if (status != OS_OK && status != OS_INTERRUPTED) {
        load_failed(thread, "the client's connection to its server", status);
    }
}

static void work(struct load_thread *thread)
{
    struct settings *const settings = thread->run->settings;
    const bool both = settings->peer.role == PEER_BOTH;
    const bool is_server = both ? thread->index % 2 == 0 : settings->peer.role == PEER_SERVER;
    const uint32_t pair = both ? thread->index / 2 : thread->index;
    const size_t bytes = 2 * (size_t)settings->bytes;
    void *buffers = NULL;
    const enum os_status status = os_memory_allocate(&buffers, bytes);
    if (status != OS_OK) {
        load_failed(thread, "no buffers for the messages", status);
        return;
    }
    if (is_server) {
        serve(thread, &settings->at_server[pair], buffers, (uint8_t *)buffers + settings->bytes);
    } else {
        ask(thread, settings->at_client[pair], buffers);
    }
    os_memory_free(buffers, bytes);
}

static void free_all(struct settings *settings)
{
    free(settings->at_server);
    free(settings->at_client);
    free(settings->pattern);
}

static int check(const struct settings *settings)
{
    if (settings->bytes < 1 || settings->bytes > MOST_BYTES) {
        return refuse(EXIT_USAGE, "--bytes of a message must lie between 1 and %d.", MOST_BYTES);
    }
    if (settings->pairs < 1 || settings->pairs > MOST_PAIRS) {
        return refuse(EXIT_USAGE, "--pairs must lie between 1 and %d.", MOST_PAIRS);
    }
    if (settings->pause_ns > longest_pause_ns) {
        return refuse(EXIT_USAGE, "--pause is an hour at most.");
    }
    return EXIT_MEASURED;
}

static int prepare(struct load_run *run)
{
    struct settings *const settings = run->settings;
    int code = check(settings);
    if (code != EXIT_MEASURED) {
        return code;
    }
    const size_t pairs = (size_t)settings->pairs;
    const size_t pattern_bytes = (size_t)settings->bytes + PATTERN_PERIOD;
    settings->at_server = calloc(pairs, sizeof *settings->at_server);
    settings->at_client = calloc(pairs, sizeof *settings->at_client);
    settings->pattern = malloc(pattern_bytes);
    if (settings->at_server == NULL || settings->at_client == NULL || settings->pattern == NULL) {
        free_all(settings);
        return refuse(EXIT_FAILED, "there is no memory for messages of this size.");
    }
    for (size_t at = 0; at < pattern_bytes; at++) {
        settings->pattern[at] = (uint8_t)(at % PATTERN_PERIOD);
    }
    settings->peer.patience_ns += settings->pause_ns;
    code = peer_open(run, &settings->peer, (uint32_t)pairs, settings->at_server, settings->at_client);
    if (code != EXIT_MEASURED) {
        free_all(settings);
        return code;
    }
    run->threads = (uint32_t)pairs * (settings->peer.role == PEER_BOTH ? 2U : 1U);
    return EXIT_MEASURED;
}

static void finish(struct load_run *run, struct json *report)
{
    struct settings *const settings = run->settings;
    if (report != NULL) {
        json_text(report, "role", peer_role_name(&settings->peer));
        json_integer(report, "pairs", settings->pairs);
        json_integer(report, "message_bytes", settings->bytes);
    }
    peer_close(&settings->peer, (uint32_t)settings->pairs, settings->at_server, settings->at_client);
    free_all(settings);
}

const struct load load_comms = {
    .name = "comms",
    .summary = "a server and a client that exchange messages over TCP",
    .unit = "exchanges",
    .may_be_real_time = true,
    .settings_bytes = sizeof(struct settings),
    .options = options,
    .prepare = prepare,
    .work = work,
    .finish = finish,
};
