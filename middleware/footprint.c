/*
 * Memory of a running server, beside section 3.4 and Figure 7 of schmidt2002, where libraries are weighed (sizes/ does
 * that when they are linked).
 *
 * One client thread connects to every servant and calls each in turn, an octet at a time. The server is asked what the
 * system says of its memory, and answers with its own process: when its servants are there and nobody has come, when
 * every servant has a connection that has carried one call, and after the calls. Its memory is pageable unless it was
 * to be locked.
 *
 * The calls are in the stream too: sent_ns is the last thing that the client reads before the call, returned_ns the first
 * after it. They cross servants of every priority on cold paths: throughput.c measures calls.
 */
#include "footprint.h"

#include "client_thread.h"
#include "message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct column columns[] = {
    {"sent_ns", "read just before the call", NULL},
    {"returned_ns", "read just after it: the answer is there", NULL},
};
static const struct measure call = {"call_ns", "the call, until it returns", 0, 1};
static const struct schema footprint_schema = {
    .columns = columns,
    .column_count = 2,
    .measures = &call,
    .measure_count = 1,
};

/* When memory was read, and what it was: INT64_MIN where the system can't tell. */
enum { AT_STARTED, AT_CONNECTED, AT_SERVED, MOMENTS };
static const char *const moments[] = {"started", "connected", "served"};

enum { RESIDENT, PROPORTIONAL, OWN, ANONYMOUS, LOCKED, PEAK, THREADS, NUMBERS };
static const struct {
    const char *name; /* control.h */
    const char *key;  /* of the event */
} numbers[] = {
    {"resident", "resident_bytes"},   {"proportional", "proportional_bytes"}, {"private", "private_bytes"},
    {"anonymous", "anonymous_bytes"}, {"locked", "locked_bytes"},             {"peak", "peak_bytes"},
    {"threads", "threads"},
};

struct reading {
    bool taken;
    int64_t time_ns;
    uint64_t calls; /* so far */
    int64_t numbers[NUMBERS];
};

struct footprint {
    const struct footprint_options *options;
    struct recorder recorder;
    struct server_seen *server;
    struct client *clients; /* one for each servant, all of them of one thread */
    uint32_t connected;
    uint64_t calls;
    uint64_t lost;
    struct reading readings[MOMENTS];
};

/* ---- Memory ---------------------------------------------------------------- */

static void take_number(void *context, char *line)
{
    struct reading *const reading = context;
    if (strcmp(control_word(&line), "memory") != 0) {
        return;
    }
    const char *const name = control_word(&line);
    for (size_t i = 0; i < NUMBERS; i++) {
        int64_t value = 0;
        if (strcmp(name, numbers[i].name) == 0 && control_number(control_word(&line), &value)) {
            reading->numbers[i] = value;
        }
    }
}

/* False: the server could not be asked, and why is `told`. */
static bool read_memory(struct footprint *footprint, size_t moment, const char **told)
{
    struct reading *const reading = &footprint->readings[moment];
    for (size_t i = 0; i < NUMBERS; i++) {
        reading->numbers[i] = INT64_MIN;
    }
    reading->calls = footprint->calls;
    if (!server_ask(footprint->server, "memory", take_number, reading, told)) {
        return false;
    }
    reading->time_ns = os_now_ns();
    reading->taken = true;
    return true;
}

/* ---- The client ------------------------------------------------------------ */

/* Nobody has come to the servants before the first reading. */
static int connect_to_all(void *context)
{
    struct footprint *const footprint = context;
    const char *told = "";
    if (!read_memory(footprint, AT_STARTED, &told)) {
        return refuse(EXIT_FAILED, "%s.", told);
    }
    while (footprint->connected < footprint->server->count) {
        struct client *const client = &footprint->clients[footprint->connected++];
        const enum os_status status = client_connect(client);
        if (status != OS_OK) {
            return client_refuse_connection(client, status);
        }
        if (os_stop_requested() != OS_STOP_NONE) {
            return refuse(EXIT_FAILED, "stopped before anything was measured.");
        }
    }
    return read_memory(footprint, AT_CONNECTED, &told) ? EXIT_MEASURED : refuse(EXIT_FAILED, "%s.", told);
}

static bool call_once(struct footprint *footprint, struct client *client, uint64_t k)
{
    struct source *const source = &footprint->recorder.sources[0];
    struct value argument;
    struct value answer;
    value_fill(&argument, VALUE_OCTET, 0, k);
    if (!client_prepare(client, &argument)) {
        return false;
    }
    const int64_t sent_ns = os_now_ns();
    const enum os_status status = the_transport.call(client->connection);
    const int64_t returned_ns = os_now_ns();
    const enum call_end end = client_judge(client, status);
    if (end != CALL_ANSWERED) {
        footprint->lost += end == CALL_LOST;
        return end == CALL_LOST;
    }
    if (!client_check_answer(client, &argument, &answer)) {
        return false;
    }
    int64_t *const slot = ring_slot(&source->ring);
    if (slot != NULL) {
        slot[0] = sent_ns;
        slot[1] = returned_ns;
        ring_commit(&source->ring);
    }
    source->counters.completed++;
    footprint->calls++;
    return true;
}

static void call_all(void *context)
{
    struct footprint *const footprint = context;
    const uint32_t count = footprint->server->count;
    const uint64_t calls = (uint64_t)footprint->options->calls * count;
    const int64_t before_ns = os_thread_cpu_time_ns();
    const char *told = "";
    bool good = true;
    for (uint64_t k = 0; k < calls && good && !recorder_stopping(&footprint->recorder); k++) {
        good = call_once(footprint, &footprint->clients[k % count], k);
    }
    if (good && !read_memory(footprint, AT_SERVED, &told)) {
        recorder_fail(&footprint->recorder, told);
    }
    footprint->recorder.sources[0].counters.cpu_time_ns = os_thread_cpu_time_ns() - before_ns;
}

static void disconnect_from_all(void *context)
{
    struct footprint *const footprint = context;
    for (uint32_t i = 0; i < footprint->connected; i++) {
        client_disconnect(&footprint->clients[i]);
    }
}

/* ---- The run --------------------------------------------------------------- */

static void parameters_to_json(void *context, struct json *json)
{
    const struct footprint *const footprint = context;
    footprint_options_to_json(json, footprint->options, (int64_t)footprint->recorder.options.ring_rows,
                              footprint->server);
}

static void write_reading(struct footprint *footprint, size_t moment)
{
    struct json json;
    const struct reading *const reading = &footprint->readings[moment];
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "event", "memory");
    json_integer(&json, "time_ns", reading->time_ns);
    json_text(&json, "at", moments[moment]);
    json_unsigned(&json, "servants", footprint->server->count);
    json_unsigned(&json, "calls", reading->calls);
    for (size_t i = 0; i < NUMBERS; i++) {
        json_integer_or_null(&json, numbers[i].key, reading->numbers[i]);
    }
    json_close_object(&json);
    stream_write_json(&footprint->recorder.stream, FRAME_EVENT, &json); /* its failure is told at the end */
    json_free(&json);
}

static void print_reading(struct footprint *footprint, size_t moment)
{
    enum { KIB = 1024 };
    const struct reading *const reading = &footprint->readings[moment];
    print("%-10s", moments[moment]);
    for (size_t i = 0; i < NUMBERS; i++) {
        if (reading->numbers[i] == INT64_MIN) {
            print("  %s N/A", numbers[i].name);
        } else {
            print("  %s %" PRId64 "%s", numbers[i].name, i == THREADS ? reading->numbers[i] : reading->numbers[i] / KIB,
                  i == THREADS ? "" : " KiB");
        }
    }
    print("\n");
}

static void tell_readings(struct footprint *footprint, void (*tell)(struct footprint *footprint, size_t moment))
{
    for (size_t moment = 0; moment < MOMENTS; moment++) {
        if (footprint->readings[moment].taken) {
            tell(footprint, moment);
        }
    }
    if (footprint->lost > 0) {
        warn("%" PRIu64 " calls were lost on the way.", footprint->lost);
    }
}

static void write_result(void *context)
{
    tell_readings(context, write_reading);
}

static void print_result(void *context)
{
    tell_readings(context, print_reading);
}

static int run(struct footprint *footprint)
{
    struct client_thread thread = {
        .experiment = "middleware-footprint",
        .recorder = &footprint->recorder,
        .client = &footprint->clients[0],
        .context = footprint,
        .parameters_to_json = parameters_to_json,
        .connect = connect_to_all,
        .measure = call_all,
        .disconnect = disconnect_from_all,
        .write_result = write_result,
        .print_result = print_result,
    };
    return client_thread_run(&thread);
}

static int prepare(struct footprint *footprint)
{
    const uint32_t count = footprint->server->count;
    footprint->clients = calloc(count, sizeof *footprint->clients);
    if (footprint->clients == NULL) {
        return refuse(EXIT_FAILED, "no memory for %" PRIu32 " connections.", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        footprint->clients[i] = (struct client){
            .ends = &footprint->options->ends,
            .server = footprint->server,
            .recorder = &footprint->recorder,
            .number = i,
        };
    }
    return EXIT_MEASURED;
}

static int measure(const struct footprint_options *options, struct server_seen *server)
{
    struct footprint footprint = {.options = options, .server = server};
    const struct conditions *const conditions = &options->ends.conditions;
    const int64_t ring_rows = recording_ring_rows(&conditions->recording, options->calls * options->servants, 0);
    if (ring_rows < 0) {
        return EXIT_USAGE;
    }
    const struct recorder_options recorder_options =
        recording_for_recorder(&conditions->recording, ring_rows, conditions->budget_obtained_ns, false);
    int code = recorder_open(&footprint.recorder, &recorder_options, &footprint_schema, 1);
    if (code != EXIT_MEASURED) {
        return code;
    }
    static const char name[] = "calls";
    memcpy(footprint.recorder.sources[0].name, name, sizeof name);
    code = prepare(&footprint);
    code = client_close_recorder(&footprint.recorder, code == EXIT_MEASURED ? run(&footprint) : code);
    free(footprint.clients);
    return code;
}

int footprint_main(int argc, char **argv)
{
    struct footprint_options options;
    int code = EXIT_MEASURED;
    if (!footprint_options_read(&options, argc, argv, &code)) {
        return code;
    }
    code = conditions_prepare(&options.ends.conditions);
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct server_seen server;
    code = server_open(&server, &options.ends, (uint32_t)options.servants);
    if (code == EXIT_MEASURED) {
        code = measure(&options, &server);
        server_close(&server);
    }
    return code;
}
