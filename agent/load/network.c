/*
 * Many clients of one server, as delgado2020 (V.A) has them: a server attends the asynchronous requests of 100 clients;
 * each asks for 64 KB over a TCP connection of its own, again and again, so that 1 Mbit/s goes to each of them.
 *
 * A request has 8 bytes; the answer has --bytes and begins with the request, so that a client knows it for its own. A
 * client asks on an absolute schedule, every bytes * 8 / rate seconds; the clients' instants lie evenly between each
 * other's. When the answer before has not come by then, or the next request is due already, a request is left out and
 * counted as late: so a client never gets more than its rate, and one that gets less is seen.
 *
 * The server is one thread that waits for all its connections at once, on the first of the chosen CPUs; the clients are
 * another, on the second of them where there is one. `both` has them in this process, over the loopback; `server` and
 * `client` are one side each, on two machines: the paper's target runs the server. Both need the same options. The
 * load counts as running when each thread has seen its first whole answer. Real-time threads rest as load/rest.h says.
 *
 * operations: answers that a client has had in full; role server: answers that it sent in full. bytes: requests and
 * answers. The report adds `role`, `clients` (role server: how many it had at most), `answer_bytes`, and, null for role
 * server, `requested_bits_per_s` and `reached_bits_per_s` (answers, all clients together) and `late`.
 */
#include "load/network.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_CLIENTS = 10000 };
static const int64_t ns_per_s = 1000000000;
static const int64_t most_bits_per_s = 1000000000000;
static const int64_t shortest_interval_ns = 1000; /* between any two requests: more, one thread could not make */
static const int64_t longest_period_ns = 3600LL * 1000000000;

void network_write_number(uint8_t *bytes, uint32_t number)
{
    for (int at = 0; at < 4; at++) {
        bytes[at] = (uint8_t)(number >> (24 - 8 * at));
    }
}

uint32_t network_read_number(const uint8_t *bytes)
{
    uint32_t number = 0;
    for (int at = 0; at < 4; at++) {
        number = number << 8 | bytes[at];
    }
    return number;
}

static size_t options(void *settings, struct option *table)
{
    struct network *const own = settings;
    own->clients = 100;
    own->bytes = 65536;
    own->rate = 1000000;
    peer_options(&own->peer, table);
    table[PEER_OPTIONS] = (struct option){"clients", OPTION_COUNT, &own->clients, NULL, "a connection each", false};
    table[PEER_OPTIONS + 1] = (struct option){"bytes", OPTION_SIZE, &own->bytes, NULL, "of each answer [64KiB]", false};
    table[PEER_OPTIONS + 2] =
        (struct option){"rate", OPTION_COUNT, &own->rate, NULL, "bits per second for each client", false};
    return PEER_OPTIONS + 3;
}

/* Checks what was asked for, and finds the period. */
static int check(struct network *settings)
{
    if (settings->clients < 1 || settings->clients > MOST_CLIENTS) {
        return refuse(EXIT_USAGE, "--clients must lie between 1 and %d.", MOST_CLIENTS);
    }
    if (settings->bytes < NETWORK_REQUEST_BYTES || settings->bytes > NETWORK_MOST_BYTES) {
        return refuse(EXIT_USAGE, "--bytes of an answer must lie between %d and %d.", NETWORK_REQUEST_BYTES,
                      NETWORK_MOST_BYTES);
    }
    if (settings->rate < 1 || settings->rate > most_bits_per_s) {
        return refuse(EXIT_USAGE, "--rate must lie between 1 and %" PRId64 " bits per second.", most_bits_per_s);
    }
    settings->period_ns = settings->bytes * 8 * ns_per_s / settings->rate;
    if (settings->period_ns > longest_period_ns) {
        return refuse(EXIT_USAGE, "--rate %" PRId64 ": an answer would take more than an hour.\nTake a higher rate or "
                                  "fewer --bytes.",
                      settings->rate);
    }
    settings->interval_ns = settings->period_ns / settings->clients;
    if (settings->interval_ns < shortest_interval_ns) {
        return refuse(EXIT_USAGE, "%" PRId64 " clients with answers of %" PRId64 " bytes at %" PRId64 " bits per "
                                  "second are more than a million requests per second.\n"
                                  "Take more --bytes, or less of the others.",
                      settings->clients, settings->bytes, settings->rate);
    }
    return EXIT_MEASURED;
}

static int prepare(struct load_run *run)
{
    struct network *const settings = run->settings;
    int code = check(settings);
    if (code != EXIT_MEASURED) {
        return code;
    }
    const size_t clients = (size_t)settings->clients;
    settings->at_server = calloc(clients, sizeof *settings->at_server);
    settings->at_client = calloc(clients, sizeof *settings->at_client);
    if (settings->at_server == NULL || settings->at_client == NULL) {
        code = refuse(EXIT_FAILED, "there is no memory for so many clients.");
    } else {
        code = peer_open(run, &settings->peer, (uint32_t)clients, settings->at_server, settings->at_client);
    }
    if (code != EXIT_MEASURED) {
        free(settings->at_server);
        free(settings->at_client);
        return code;
    }
    settings->peer.patience_ns += settings->period_ns;
    if (run->start_patience_ns < settings->peer.patience_ns) {
        run->start_patience_ns = settings->peer.patience_ns;
    }
    run->threads = settings->peer.role == PEER_BOTH ? 2 : 1;
    return EXIT_MEASURED;
}

static void work(struct load_thread *thread)
{
    const struct network *const settings = thread->run->settings;
    const bool is_first = thread->index == 0;
    if (settings->peer.role == PEER_SERVER || (settings->peer.role == PEER_BOTH && is_first)) {
        network_serve(thread);
    } else {
        network_ask(thread);
    }
}

static void report_rates(const struct network *settings, struct json *report)
{
    if (settings->peer.role == PEER_SERVER) {
        json_null(report, "requested_bits_per_s");
        json_null(report, "reached_bits_per_s");
        json_null(report, "late");
        return;
    }
    const double bits = (double)settings->answers * (double)settings->bytes * 8.0;
    json_integer(report, "requested_bits_per_s", settings->rate * settings->clients);
    json_integer_or_null(report, "reached_bits_per_s",
                         settings->asked_for_ns > 0
                             ? (int64_t)(bits * (double)ns_per_s / (double)settings->asked_for_ns)
                             : INT64_MIN);
    json_unsigned(report, "late", settings->late);
}

static void finish(struct load_run *run, struct json *report)
{
    struct network *const settings = run->settings;
    if (report != NULL) {
        json_text(report, "role", peer_role_name(&settings->peer));
        json_integer(report, "clients",
                     settings->peer.role == PEER_SERVER ? settings->most_clients : settings->clients);
        json_integer(report, "answer_bytes", settings->bytes);
        report_rates(settings, report);
    }
    peer_close(&settings->peer, (uint32_t)settings->clients, settings->at_server, settings->at_client);
    free(settings->at_server);
    free(settings->at_client);
}

const struct load load_network = {
    .name = "network",
    .summary = "a server that answers many clients, each at its own rate",
    .unit = "answers",
    .may_be_real_time = true,
    .settings_bytes = sizeof(struct network),
    .options = options,
    .prepare = prepare,
    .work = work,
    .finish = finish,
};
