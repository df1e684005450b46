/* The command `latency`: starts the clients of latency.c, and says who took part. */
#include "latency.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_MS = 1000000, START_DELAY_MS = 50, LOOK_MS = 100 };

#define SCHEDULED {"scheduled_ns", "programmed release, start + k * period", NULL}
#define SENT {"sent_ns", "read by the woken client just before the call", NULL}
#define ARRIVED {"arrived_ns", "read by the servant first of all when the request had arrived", NULL}
#define ANSWERED {"answered_ns", "read just after the call: the answer is there", NULL}

static const struct column two_way_columns[] = {SCHEDULED, SENT, ANSWERED};
static const struct measure two_way_measures[] = {
    {"round_trip_ns", "the call, until its answer is there", 1, 2},
    {"response_ns", "from the programmed release until the answer is there", 0, 2},
    {"latency_ns", "from the programmed release until the client calls", 0, 1},
};
static const struct schema two_way_schema = {
    .columns = two_way_columns,
    .column_count = 3,
    .measures = two_way_measures,
    .measure_count = 3,
};

static const struct column one_way_columns[] = {SCHEDULED, SENT, ARRIVED, ANSWERED};
static const struct measure one_way_measures[] = {
    {"round_trip_ns", "the call, until its answer is there", 1, 3},
    {"response_ns", "from the programmed release until the answer is there", 0, 3},
    {"latency_ns", "from the programmed release until the client calls", 0, 1},
    {"request_ns", "from the client's call until the servant has the request", 1, 2},
    {"reply_ns", "from there until the client has the answer", 2, 3},
};
static const struct schema one_way_schema = {
    .columns = one_way_columns,
    .column_count = 4,
    .measures = one_way_measures,
    .measure_count = 5,
};

struct latency {
    const struct latency_options *options;
    struct server_seen *server;
    struct recorder recorder;
    struct latency_client *clients;
    struct latency_meeting meeting;
    uint32_t count; /* of clients, C0 among them */
};

/* ---- Before the start ------------------------------------------------------ */

static void describe(const struct latency *latency, uint32_t number)
{
    const struct latency_options *const options = latency->options;
    struct latency_client *const client = &latency->clients[number];
    struct source *const source = client->source;
    format_text(source->name, sizeof source->name, "C%" PRIu32, number);
    format_text(client->what, sizeof client->what, "%" PRId64 " calls a second to servant %" PRIu32,
                number == 0 ? options->rate_high_hz : options->rate_low_hz, number);
    source->what = client->what;
}

/* Connecting and each call have their own patience. */
static int await_client(struct latency *latency, const struct latency_client *client)
{
    enum os_status status = OS_TIMED_OUT;
    while (status != OS_OK && os_stop_requested() == OS_STOP_NONE) {
        status = os_semaphore_wait_for(latency->meeting.ready, (int64_t)LOOK_MS * NS_PER_MS);
    }
    if (os_stop_requested() != OS_STOP_NONE) {
        return refuse(EXIT_FAILED, "stopped before anything was measured.");
    }
    const char *const failure = atomic_load(&latency->recorder.failure);
    if (failure != NULL) {
        return refuse(EXIT_FAILED, "%s, before anything was measured.", failure);
    }
    return client->status == OS_OK ? EXIT_MEASURED : client_refuse_connection(&client->client, client->status);
}

/* One after the other: each is connected and warm, and waits for `go`, before the next begins. */
static int start_clients(struct latency *latency)
{
    int code = EXIT_MEASURED;
    for (uint32_t i = 0; i < latency->count && code == EXIT_MEASURED; i++) {
        struct latency_client *const client = &latency->clients[i];
        struct source *const source = &latency->recorder.sources[i];
        *client = (struct latency_client){
            .client = {.ends = &latency->options->ends,
                       .server = latency->server,
                       .recorder = &latency->recorder,
                       .number = i},
            .options = latency->options,
            .meeting = &latency->meeting,
            .source = source,
        };
        describe(latency, i);
        const struct os_thread_attributes attributes = ends_client_attributes(&latency->options->ends, i);
        const enum os_status status = os_thread_create(&source->thread, &attributes, latency_client_work, client);
        code = status == OS_OK ? await_client(latency, client) : client_refuse_thread(&client->client, status);
    }
    const char *told = "";
    if (code == EXIT_MEASURED && !server_ask_threads(latency->server, &told)) {
        code = refuse(EXIT_FAILED, "%s.", told);
    }
    return code;
}

/* Last before the start. It lies ahead far enough for every thread to go to sleep until then. */
static void choose_start(struct latency *latency)
{
    const int64_t start_ns = os_now_ns() + (START_DELAY_MS + (int64_t)latency->count) * NS_PER_MS;
    for (uint32_t i = 0; i < latency->count; i++) {
        latency->clients[i].first_release_ns = start_ns + latency_offset_ns(latency->options, i);
    }
}

static void source_to_json(struct json *json, const struct latency *latency, uint32_t number)
{
    const struct os_thread_attributes attributes = ends_client_attributes(&latency->options->ends, number);
    json_open_object(json, NULL);
    recorder_source_to_json(&latency->recorder, json, number);
    json_text(json, "role", number == 0 ? "high" : "low");
    json_integer(json, "start_ns", latency->clients[number].first_release_ns);
    json_integer(json, "period_ns", latency_period_ns(latency->options, number));
    requested_to_json(json, &attributes);
    obtained_to_json(json, attributes.policy, &latency->clients[number].obtained);
    servant_to_json(json, &latency->server->servants[number]);
    json_close_object(json);
}

static int write_header(struct latency *latency)
{
    struct json json;
    recorder_header_begin(&latency->recorder, &json, "middleware-latency");
    latency_options_to_json(&json, latency->options, (int64_t)latency->recorder.options.ring_rows, latency->server);
    json_open_array(&json, "sources");
    for (uint32_t i = 0; i < latency->count; i++) {
        source_to_json(&json, latency, i);
    }
    json_close_array(&json);
    conditions_to_json(&json, &latency->options->ends.conditions);
    return recorder_header_end(&latency->recorder, &json);
}

/* ---- After the end ---------------------------------------------------------- */

static void write_result(struct latency *latency)
{
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "event", "result");
    json_integer(&json, "time_ns", os_now_ns());
    json_open_array(&json, "servants");
    for (uint32_t i = 0; i < latency->count; i++) {
        const struct servant_seen *const servant = &latency->server->servants[i];
        json_open_object(&json, NULL);
        json_integer(&json, "source", i);
        json_integer_or_null(&json, "thread", servant->thread != 0 ? servant->thread : INT64_MIN);
        json_text(&json, "policy", os_policy_name(servant->obtained.policy));
        json_integer_or_null(&json, "priority", servant->obtained.native_priority);
        json_integer_or_null(&json, "cpu", servant->obtained.cpu == OS_CPU_ANY ? INT64_MIN : servant->obtained.cpu);
        json_unsigned(&json, "two_way", servant->two_way);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    stream_write_json(&latency->recorder.stream, FRAME_EVENT, &json); /* its failure is told at the end */
    json_free(&json);
}

static bool is_as_before(const struct servant_seen *servant, const struct servant_seen *before)
{
    return servant->thread == before->thread && servant->obtained.policy == before->obtained.policy &&
           servant->obtained.native_priority == before->obtained.native_priority &&
           servant->obtained.cpu == before->obtained.cpu;
}

/* What the server says of its threads now, after they have served, beside what stands in the header. */
static void look_again(struct latency *latency, struct servant_seen *before)
{
    struct server_seen *const server = latency->server;
    const char *told = "";
    memcpy(before, server->servants, latency->count * sizeof *before);
    if (!server_ask_threads(server, &told) || !server_ask_served(server, &told)) {
        warn("the server's threads could not be looked at again: %s.", told);
        return;
    }
    uint32_t changed = 0;
    for (uint32_t i = 0; i < latency->count; i++) {
        changed += is_as_before(&server->servants[i], &before[i]) ? 0 : 1;
    }
    if (changed > 0) {
        warn("%" PRIu32 " of %" PRIu32 " servants had another thread, priority or CPU after the run than before.",
             changed, latency->count);
    }
    if (latency->recorder.streaming) {
        write_result(latency);
    }
}

/* ---- The run ---------------------------------------------------------------- */

static void let_go(struct latency *latency)
{
    for (uint32_t i = 0; i < latency->count; i++) {
        if (latency->recorder.sources[i].thread == NULL) {
            source_finish(&latency->recorder.sources[i]);
        }
    }
    os_semaphore_post(latency->meeting.go); /* to the first; each passes it on */
    recorder_run(&latency->recorder);
    for (uint32_t i = 0; i < latency->count; i++) { /* not earlier: it is work, beside which others would still call */
        client_disconnect(&latency->clients[i].client);
    }
}

static int run(struct latency *latency, struct servant_seen *before)
{
    int code = start_clients(latency);
    if (code == EXIT_MEASURED) {
        code = recorder_open_output(&latency->recorder);
    }
    if (code == EXIT_MEASURED) {
        choose_start(latency);
        code = write_header(latency);
    }
    if (code != EXIT_MEASURED) {
        atomic_store(&latency->recorder.stop, true); /* those that wait leave at once */
    }
    let_go(latency);
    if (code == EXIT_MEASURED && atomic_load(&latency->recorder.failure) == NULL) {
        look_again(latency, before);
    }
    return code;
}

static int allocate_and_run(struct latency *latency)
{
    const size_t bytes = latency->count * sizeof *latency->clients;
    struct servant_seen *const before = calloc(latency->count, sizeof *before);
    void *memory = NULL;
    int code = EXIT_FAILED;
    latency->meeting.low_at_work = latency->count - 1;
    latency->meeting.low_ended_ns = INT64_MAX;
    if (before == NULL || os_memory_allocate(&memory, bytes) != OS_OK ||
        os_semaphore_create(&latency->meeting.ready, 0) != OS_OK ||
        os_semaphore_create(&latency->meeting.go, 0) != OS_OK) {
        code = refuse(EXIT_FAILED, "no memory for %" PRIu32 " clients.", latency->count);
    } else {
        latency->clients = memory; /* whole pages, so its cache lines are as declared */
        code = run(latency, before);
    }
    code = client_close_recorder(&latency->recorder, code);
    os_semaphore_destroy(latency->meeting.ready);
    os_semaphore_destroy(latency->meeting.go);
    os_memory_free(memory, bytes);
    free(before);
    return code;
}

static struct os_thread_attributes thread_of(const void *context, uint32_t source)
{
    return ends_client_attributes(context, source);
}

static int measure(struct latency *latency)
{
    const struct latency_options *const options = latency->options;
    const struct conditions *const conditions = &options->ends.conditions;
    if (options->one_way && !latency->server->has_our_clock) {
        return refuse(EXIT_USAGE, "--one-way takes the servants' time stamps, and they read another clock: the server runs "
                                  "on another machine, in another time namespace, or can't tell.\nLeave it out.");
    }
    const int64_t ring_rows = recording_ring_rows(&conditions->recording, latency_rows(options), latency_period_ns(options, 0));
    if (ring_rows < 0) {
        return EXIT_USAGE;
    }
    struct recorder_options recorder_options =
        recording_for_recorder(&conditions->recording, ring_rows, conditions->budget_obtained_ns, true);
    recorder_options.thread_of = thread_of;
    recorder_options.context = &options->ends;
    const int code = recorder_open(&latency->recorder, &recorder_options,
                                   options->one_way ? &one_way_schema : &two_way_schema, latency->count);
    return code == EXIT_MEASURED ? allocate_and_run(latency) : code;
}

int latency_main(int argc, char **argv)
{
    struct latency_options options;
    int code = EXIT_MEASURED;
    if (!latency_options_read(&options, argc, argv, &code)) {
        return code;
    }
    code = conditions_prepare(&options.ends.conditions);
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct server_seen server;
    const uint32_t count = (uint32_t)options.clients + 1;
    code = server_open(&server, &options.ends, count);
    if (code == EXIT_MEASURED) {
        struct latency latency = {.options = &options, .server = &server, .count = count};
        code = measure(&latency);
        server_close(&server);
    }
    return code;
}
