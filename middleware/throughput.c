/*
 * Operation throughput, as in section 3.2 and Figure 2 of schmidt2002 (IDL_Cubit): one client thread calls one servant,
 * which cubes what it gets, as fast as it can.
 *
 * sent_ns is the last thing that the client reads before the call, returned_ns the first after it: two-way until the
 * answer is there, one-way until the message was handed over. Between two calls the next argument is made and the last
 * answer is checked; that is in the operations per second, as it is in the paper, and not in call_ns.
 *
 * One-way calls count only as far as the server confirms them. After the last one a two-way call is made on the same
 * connection: it is served after all that came before, and its return is the instant by which they had drained. Where
 * it may be lost, or where more lie before it than are served within the patience, the server's number is watched
 * instead until all are there or it stands still; when it last grew is then the instant, late by a look at most.
 */
#include "throughput.h"

#include "client_thread.h"
#include "message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A server that is kept from its CPU stands still, too, and is watched for longer than that takes. */
enum { LOOK_MS = 2, STILL_MS = 200, STILL_REQUESTS = 4, NS_PER_MS = 1000000 };
/* Two real-time threads that call each other fill their CPU. The system then takes it from them for as long as 50 ms in
 * every second (real-time throttling, the fair server), and the rate of whatever row that falls into is wrong. So they
 * give it away by themselves: between the rows, and within a long one. */
enum { REST_MS = 60, BUSY_MS = 800 };
static const int64_t ns_per_s = 1000000000;

static const struct column columns[] = {
    {"sent_ns", "read just before the call", NULL},
    {"returned_ns", "read just after it: the answer is there, or what needs none was handed over", NULL},
};
static const struct measure call = {"call_ns", "the call, until it returns", 0, 1};
static const struct schema throughput_schema = {
    .columns = columns,
    .column_count = 2,
    .measures = &call,
    .measure_count = 1,
};

struct throughput {
    struct throughput_options *options;
    struct client client;
    struct value argument; /* its elements have room for the longest sequence */
};

/* ---- One call ------------------------------------------------------------- */

static bool make_ready(struct throughput *throughput, const struct throughput_row *row, uint64_t k)
{
    value_fill(&throughput->argument, row->kind, row->length, k);
    return client_prepare(&throughput->client, &throughput->argument);
}

/* One-way there is no answer that could be too late: patience is for room to send. */
static enum call_end judge(struct throughput *throughput, bool one_way, enum os_status status)
{
    struct client *const client = &throughput->client;
    if (one_way && status == OS_TIMED_OUT && the_transport.reliable && !recorder_stopping(client->recorder) &&
        !server_has_gone(client->server)) {
        client_fail(client, "there was no room to send a one-way call within --patience");
        return CALL_ENDS_RUN;
    }
    return client_judge(client, status);
}

/* Sends one, and waits for its answer where there is one. `returned_ns` is 0 where it was lost. False: the run ends. */
static bool make_call(struct throughput *throughput, struct throughput_row *row, int64_t *sent_ns, int64_t *returned_ns)
{
    enum os_status status;
    if (row->one_way) {
        *sent_ns = os_now_ns();
        status = the_transport.send(throughput->client.connection);
        *returned_ns = os_now_ns();
    } else {
        *sent_ns = os_now_ns();
        status = the_transport.call(throughput->client.connection);
        *returned_ns = os_now_ns();
    }
    const enum call_end end = judge(throughput, row->one_way, status);
    if (end == CALL_ANSWERED) {
        struct value answer;
        return row->one_way || client_check_answer(&throughput->client, &throughput->argument, &answer);
    }
    *returned_ns = 0;
    return end == CALL_LOST;
}

static bool call_once(struct throughput *throughput, struct throughput_row *row, struct source *source, int64_t k)
{
    int64_t sent_ns = 0;
    int64_t returned_ns = 0;
    if (!make_ready(throughput, row, (uint64_t)k)) {
        return false;
    }
    if (!make_call(throughput, row, &sent_ns, &returned_ns)) {
        return false;
    }
    if (k < 0) {
        source->counters.warmup++;
        return true;
    }
    if (returned_ns == 0) {
        row->lost++;
        return true;
    }
    int64_t *const slot = ring_slot(&source->ring); /* only now: a lost call may not count as dropped */
    if (slot != NULL) {
        slot[0] = sent_ns;
        slot[1] = returned_ns;
        ring_commit(&source->ring);
    }
    source->counters.completed++;
    row->calls++;
    return true;
}

/* ---- One row -------------------------------------------------------------- */

/* Of servant 0, one-way, so far. */
static bool served_so_far(struct throughput *throughput, uint64_t *one_way)
{
    const char *told = "";
    if (!server_ask_served(throughput->client.server, &told)) {
        return client_fail(&throughput->client, told);
    }
    *one_way = throughput->client.server->servants[0].one_way;
    return true;
}

/* The server has all that it will ever have when it has served `all`, or when its number stands still for so long.
 * Looking costs the server time, so that it is done rarely, and the instant is late by one look at most. */
static bool watch_it_drain(struct throughput *throughput, uint64_t all, int64_t still_ns, int64_t *drained_ns)
{
    uint64_t served = 0;
    uint64_t before = UINT64_MAX;
    int64_t now_ns = os_now_ns();
    for (*drained_ns = now_ns; now_ns - *drained_ns < still_ns && !recorder_stopping(throughput->client.recorder);
         now_ns = os_now_ns()) {
        if (!served_so_far(throughput, &served)) {
            return false;
        }
        if (served != before) {
            *drained_ns = os_now_ns();
        }
        if (served >= all) {
            return true;
        }
        before = served;
        os_sleep_until(os_now_ns() + (int64_t)LOOK_MS * NS_PER_MS);
    }
    return true;
}

/* The `sent` one-way calls, after the `before` that were served earlier, have been served by `drained_ns`, as far as
 * they ever will be. */
static bool drain(struct throughput *throughput, uint64_t before, uint64_t sent, int64_t *drained_ns)
{
    const struct throughput_row marker = {.kind = VALUE_VOID};
    const struct ends_options *const ends = throughput->client.ends;
    /* Some transports break the connection off where an answer is too late. */
    const bool asks = the_transport.reliable &&
                      (ends->service_time_ns == 0 || sent <= (uint64_t)(ends->patience_ns / 2 / ends->service_time_ns));
    if (asks) {
        if (!make_ready(throughput, &marker, 0)) {
            return false;
        }
        const enum os_status status = the_transport.call(throughput->client.connection);
        *drained_ns = os_now_ns();
        if (status != OS_TIMED_OUT || server_has_gone(throughput->client.server)) {
            return client_judge(&throughput->client, status) == CALL_ANSWERED;
        }
    }
    const int64_t still_ns =
        the_transport.reliable ? long_patience_ns(ends->patience_ns) : (int64_t)STILL_MS * NS_PER_MS;
    return watch_it_drain(throughput, before + sent, still_ns + STILL_REQUESTS * ends->service_time_ns, drained_ns);
}

static bool warm_up(struct throughput *throughput, struct throughput_row *row, struct source *source)
{
    uint64_t before = 0;
    int64_t drained_ns = 0;
    bool good = !row->one_way || served_so_far(throughput, &before);
    const struct recorder *const recorder = throughput->client.recorder;
    for (int64_t k = -throughput->options->warmup; k < 0 && good && !recorder_stopping(recorder); k++) {
        good = call_once(throughput, row, source, k);
    }
    return good && (!row->one_way || drain(throughput, before, (uint64_t)throughput->options->warmup, &drained_ns));
}

/* Returns the time afterwards. */
static int64_t rest(const struct throughput *throughput)
{
    const int policy = throughput->options->ends.policy;
    if (policy == OS_POLICY_FIFO || policy == OS_POLICY_RR) {
        os_sleep_until(os_now_ns() + (int64_t)REST_MS * NS_PER_MS);
    }
    return os_now_ns();
}

static void measure_row(struct throughput *throughput, uint32_t index)
{
    struct throughput_row *const row = &throughput->options->rows[index];
    struct source *const source = &throughput->client.recorder->sources[index];
    uint64_t served_before = 0;
    uint64_t served_after = 0;
    bool good = warm_up(throughput, row, source) && (!row->one_way || served_so_far(throughput, &served_before));
    const int64_t cpu_time_before_ns = os_thread_cpu_time_ns();
    const int64_t begin_ns = os_now_ns();
    const int64_t row_limit_ns = throughput->options->row_limit_ns;
    int64_t rest_at_ns = begin_ns + (int64_t)BUSY_MS * NS_PER_MS;
    int64_t now_ns = begin_ns;
    const int64_t count = throughput->options->count;
    const struct recorder *const recorder = throughput->client.recorder;
    for (int64_t k = 0;
         k < count && good && now_ns - begin_ns - row->rested_ns < row_limit_ns && !recorder_stopping(recorder); k++) {
        if (now_ns >= rest_at_ns && !row->one_way) { /* one-way, the server would catch up meanwhile */
            const int64_t rested_ns = rest(throughput) - now_ns;
            row->rested_ns += rested_ns;
            rest_at_ns = now_ns + rested_ns + (int64_t)BUSY_MS * NS_PER_MS;
        }
        good = call_once(throughput, row, source, k);
        now_ns = os_now_ns();
    }
    row->elapsed_ns = now_ns - begin_ns - row->rested_ns;
    int64_t drained_ns = 0;
    if (row->one_way && good && drain(throughput, served_before, row->calls, &drained_ns) &&
        served_so_far(throughput, &served_after)) {
        row->drained_ns = drained_ns - begin_ns;
        row->confirmed = served_after - served_before;
    }
    source->counters.cpu_time_ns = os_thread_cpu_time_ns() - cpu_time_before_ns;
}

static int connect_client(void *context)
{
    struct throughput *const throughput = context;
    const enum os_status status = client_connect(&throughput->client);
    return status == OS_OK ? EXIT_MEASURED : client_refuse_connection(&throughput->client, status);
}

static void measure_rows(void *context)
{
    struct throughput *const throughput = context;
    for (uint32_t i = 0; i < throughput->options->row_count; i++) {
        if (!recorder_stopping(throughput->client.recorder)) {
            (void)rest(throughput);
            measure_row(throughput, i);
        }
        source_finish(&throughput->client.recorder->sources[i]);
    }
}

static void disconnect_client(void *context)
{
    struct throughput *const throughput = context;
    client_disconnect(&throughput->client);
}

/* ---- The run --------------------------------------------------------------- */

static void parameters_to_json(void *context, struct json *json)
{
    const struct throughput *const throughput = context;
    throughput_options_to_json(json, throughput->options, (int64_t)throughput->client.recorder->options.ring_rows,
                               throughput->client.server);
}

static void write_result(void *context)
{
    const struct throughput *const throughput = context;
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "event", "result");
    json_integer(&json, "time_ns", os_now_ns());
    json_open_array(&json, "rows");
    for (uint32_t i = 0; i < throughput->options->row_count; i++) {
        const struct throughput_row *const row = &throughput->options->rows[i];
        json_open_object(&json, NULL);
        json_integer(&json, "source", i);
        json_unsigned(&json, "calls", row->calls);
        json_integer(&json, "elapsed_ns", row->elapsed_ns);
        json_integer(&json, "rested_ns", row->rested_ns);
        if (row->one_way && row->drained_ns > 0) {
            json_unsigned(&json, "confirmed", row->confirmed);
            json_integer(&json, "drained_ns", row->drained_ns);
        } else {
            json_null(&json, "confirmed");
            json_null(&json, "drained_ns");
        }
        json_unsigned(&json, "lost", row->lost);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    stream_write_json(&throughput->client.recorder->stream, FRAME_EVENT, &json); /* its failure is told at the end */
    json_free(&json);
}

static void print_result(void *context)
{
    const struct throughput *const throughput = context;
    for (uint32_t i = 0; i < throughput->options->row_count; i++) {
        const struct throughput_row *const row = &throughput->options->rows[i];
        const bool drained = row->one_way && row->drained_ns > 0;
        if (row->calls > 0 && row->elapsed_ns > 0) {
            print("%-24s %10" PRIu64 " a second%s", row->name,
                  row->calls * (uint64_t)ns_per_s / (uint64_t)row->elapsed_ns, drained ? "" : "\n");
        }
        if (drained && row->calls > 0) {
            print(" sent, %10" PRIu64 " served (%" PRIu64 " of %" PRIu64 ")\n",
                  row->confirmed * (uint64_t)ns_per_s / (uint64_t)row->drained_ns, row->confirmed, row->calls);
        }
    }
}

static int run(struct throughput *throughput)
{
    struct client_thread thread = {
        .experiment = "middleware-throughput",
        .recorder = throughput->client.recorder,
        .client = &throughput->client,
        .context = throughput,
        .parameters_to_json = parameters_to_json,
        .connect = connect_client,
        .measure = measure_rows,
        .disconnect = disconnect_client,
        .write_result = write_result,
        .print_result = print_result,
    };
    return client_thread_run(&thread);
}

/* Room for the elements of the longest sequence, or for one byte. */
static size_t element_bytes(const struct throughput_options *options)
{
    return options->longest > 0 ? options->longest : 1;
}

static int allocate(struct throughput *throughput)
{
    const size_t bytes = element_bytes(throughput->options);
    return os_memory_allocate(&throughput->argument.elements, bytes) == OS_OK
               ? EXIT_MEASURED
               : refuse(EXIT_FAILED, "no memory for sequences of %zu bytes.", bytes);
}

static void release(struct throughput *throughput)
{
    os_memory_free(throughput->argument.elements, element_bytes(throughput->options));
}

static int measure(struct throughput_options *options, struct server_seen *server)
{
    struct recorder recorder;
    struct throughput throughput = {
        .options = options,
        .client = {.ends = &options->ends, .server = server, .recorder = &recorder},
    };
    const struct conditions *const conditions = &options->ends.conditions;
    const int64_t ring_rows = recording_ring_rows(&conditions->recording, options->count, 0);
    if (ring_rows < 0) {
        return EXIT_USAGE;
    }
    const struct recorder_options recorder_options =
        recording_for_recorder(&conditions->recording, ring_rows, conditions->budget_obtained_ns, false);
    int code = recorder_open(&recorder, &recorder_options, &throughput_schema, options->row_count);
    if (code != EXIT_MEASURED) {
        return code;
    }
    for (uint32_t i = 0; i < options->row_count; i++) {
        memcpy(recorder.sources[i].name, options->rows[i].name, sizeof recorder.sources[i].name);
    }
    for (uint32_t i = 0; i < options->too_large_count && i < ABSENCES_LIMIT; i++) {
        recorder_add_absence(&recorder, options->too_large[i].name, "it does not fit into one message of this transport");
    }
    code = allocate(&throughput);
    code = client_close_recorder(&recorder, code == EXIT_MEASURED ? run(&throughput) : code);
    release(&throughput);
    return code;
}

int throughput_main(int argc, char **argv)
{
    struct throughput_options options;
    int code = EXIT_MEASURED;
    if (!throughput_options_read(&options, argc, argv, &code)) {
        return code;
    }
    code = conditions_prepare(&options.ends.conditions);
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct server_seen server;
    code = server_open(&server, &options.ends, 1);
    if (code == EXIT_MEASURED) {
        code = measure(&options, &server);
        server_close(&server);
    }
    return code;
}
