/*
 * Interrupt latency and preemption latency of a thread of the kernel, as the kernel's own tracer timerlat measures them:
 * no module, and no thread of ours on the measured CPU. The rows are those of `interrupt`. `scheduled_ns` is the instant
 * for which the timer was programmed (timerlat_rows.h says how it is known), `handler_ns` the reading of the clock in
 * the timer's handler (t1 of laurich2004), `wake_ns` the reading in the kernel's thread that the handler wakes (t2).
 *
 * An ordinary thread reads what the kernel tells, ten times a second.
 */
#include "experiment/experiment.h"
#include "experiment/schemas.h"
#include "experiment/timerlat_options.h"
#include "experiment/timerlat_rows.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>
#include <stdlib.h>

enum { READ_INTERVAL_NS = 100000000, FIRST_SIGN_S = 3, SETTLED_NS = 20000000 };
static const int64_t ns_per_s = 1000000000;

struct session {
    const struct timerlat_options *options;
    struct recorder *recorder;
    struct os_timerlat *trace;
    struct timerlat_rows *rows; /* one for each CPU */
};

static bool read_all(struct session *session, os_timerlat_visitor visit)
{
    for (uint32_t i = 0; i < session->recorder->source_count; i++) {
        const enum os_status status = os_timerlat_read(session->trace, i, visit, &session->rows[i]);
        if (status != OS_OK) {
            recorder_fail(session->recorder, "the kernel's trace can't be read any more");
            return false;
        }
    }
    return true;
}

static bool all_complete(const struct session *session)
{
    for (uint32_t i = 0; i < session->recorder->source_count; i++) {
        if (!timerlat_rows_complete(&session->rows[i])) {
            return false;
        }
    }
    return true;
}

/* The last release may be long over, and its thread still has not come to run. */
static bool overdue(const struct session *session, int64_t begun_ns)
{
    const struct timerlat_options *const options = session->options;
    return os_now_ns() > begun_ns + (options->count + options->warmup + 1) * options->rhythm.period_ns + ns_per_s;
}

static void finish(struct session *session)
{
    const int64_t end_ns = os_now_ns();
    while (os_now_ns() < end_ns + SETTLED_NS) { /* what was released a moment ago is not missed yet */
        os_sleep_until(end_ns + SETTLED_NS);
    }
    read_all(session, timerlat_rows_take);
    for (uint32_t i = 0; i < session->recorder->source_count; i++) {
        struct timerlat_rows *const rows = &session->rows[i];
        timerlat_rows_close(rows, end_ns);
        source_finish(rows->source);
    }
}

static void read_on(void *argument)
{
    struct session *const session = argument;
    const int64_t begun_ns = os_now_ns();
    while (read_all(session, timerlat_rows_take) && !all_complete(session) && !overdue(session, begun_ns) &&
           !recorder_stopping(session->recorder)) {
        os_sleep_until(os_now_ns() + READ_INTERVAL_NS);
    }
    finish(session);
}

static void note_thread(void *rows, const struct os_timerlat_event *event)
{
    if (event->by_thread) {
        ((struct timerlat_rows *)rows)->thread = event->thread;
    }
}

/* Before anything is recorded each CPU's thread must have told something. Returns an exit code. */
static int wait_for_signs(struct session *session)
{
    const int64_t patience_ns = 2 * session->options->rhythm.period_ns + FIRST_SIGN_S * ns_per_s;
    const int64_t end_ns = os_now_ns() + patience_ns;
    for (uint32_t i = 0; i < session->recorder->source_count; i++) {
        while (session->rows[i].thread == 0) {
            if (os_timerlat_read(session->trace, i, note_thread, &session->rows[i]) != OS_OK) {
                return refuse(EXIT_FAILED, "the kernel's trace can't be read.");
            }
            if (recorder_stopping(session->recorder)) {
                return refuse(EXIT_FAILED, "ended before anything was measured.");
            }
            if (session->rows[i].thread == 0 && os_now_ns() > end_ns) {
                return refuse(EXIT_FAILED, "the kernel's timerlat thread on %s did not come to run within %" PRId64
                                           " s.\nDo threads of higher priority keep that CPU busy?",
                              session->recorder->sources[i].name, patience_ns / ns_per_s);
            }
            os_sleep_until(os_now_ns() + session->options->rhythm.period_ns / 4);
        }
    }
    return EXIT_MEASURED;
}

static void source_to_json(struct json *json, const struct session *session, uint32_t index)
{
    const struct timerlat_options *const options = session->options;
    const struct os_thread_attributes requested = {
        .policy = OS_POLICY_FIFO, .below_highest = os_timerlat_below_highest(), .cpu = options->cpus.cpus[index]};
    struct os_thread_obtained obtained;
    json_open_object(json, NULL);
    recorder_source_to_json(session->recorder, json, index);
    json_integer(json, "period_ns", options->rhythm.period_ns);
    json_text(json, "role", "thread of the kernel");
    requested_to_json(json, &requested);
    if (os_timerlat_thread(session->rows[index].thread, &obtained)) {
        obtained_to_json(json, OS_POLICY_FIFO, &obtained);
    } else {
        json_null(json, "obtained");
    }
    json_close_object(json);
}

static int write_header(const struct session *session)
{
    struct json json;
    recorder_header_begin(session->recorder, &json, "timerlat");
    timerlat_options_to_json(&json, session->options, (int64_t)session->recorder->options.ring_rows);
    json_open_array(&json, "sources");
    for (uint32_t i = 0; i < session->recorder->source_count; i++) {
        source_to_json(&json, session, i);
    }
    json_close_array(&json);
    conditions_to_json(&json, &session->options->conditions);
    return recorder_header_end(session->recorder, &json);
}

static void tell_lost(const struct session *session)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < session->recorder->source_count; i++) {
        lost += session->rows[i].lost;
    }
    if (lost != 0) {
        warn_of(WARNING_OF_DROPPED,
                "samples dropped because the kernel's trace had no room for them, or was not read in time: %" PRIu64
                ". Lengthen the period.",
                lost);
    }
}

/* With the trace open. Returns an exit code. */
static int run(struct session *session)
{
    const struct timerlat_options *const options = session->options;
    struct recorder *const recorder = session->recorder;
    int code = wait_for_signs(session);
    for (uint32_t i = 0; i < options->cpus.count; i++) {
        housekeeping_avoid(options->cpus.cpus[i]);
    }
    if (code == EXIT_MEASURED) {
        code = recorder_open_output(recorder);
    }
    if (code == EXIT_MEASURED) {
        code = write_header(session);
    }
    if (code != EXIT_MEASURED) {
        return code;
    }
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        const int64_t thread = session->rows[i].thread;
        session->rows[i] =
            timerlat_rows_from(&recorder->sources[i], options->rhythm.period_ns, options->count, options->warmup);
        session->rows[i].thread = thread;
    }
    const struct os_thread_attributes attributes = {.name = "tauto-reader", .cpu = OS_CPU_ANY};
    const enum os_status status = os_thread_create_ordinary(&recorder->sources[0].thread, &attributes, read_on, session);
    if (status != OS_OK) {
        return refuse(EXIT_FAILED, "the thread that reads the trace can't be started: %s.", os_status_text(status));
    }
    recorder_run(recorder);
    tell_lost(session);
    return EXIT_MEASURED;
}

static int open_trace(struct session *session)
{
    const struct timerlat_options *const options = session->options;
    uint32_t left_over = 0;
    const struct os_answer answer = os_timerlat_open(&session->trace, options->cpus.cpus, options->cpus.count,
                                                     options->rhythm.period_ns, &left_over);
    if (left_over != 0) {
        warn("settings of the kernel's timerlat that %" PRIu32 " killed run%s had left are put back.", left_over,
             left_over == 1 ? "" : "s");
    }
    if (answer.availability == OS_PRESENT) {
        return EXIT_MEASURED;
    }
    return refuse(answer.availability == OS_DENIED ? EXIT_NOT_PERMITTED : EXIT_FAILED,
                  "the kernel's timerlat can't be used here: %s.\n"
                  "'interrupt' measures the same two latencies of a thread "
                  "of its own.",
                  answer.why);
}

static int measure(struct session *session)
{
    const struct timerlat_options *const options = session->options;
    struct recorder *const recorder = session->recorder;
    session->rows = calloc(options->cpus.count, sizeof *session->rows);
    if (session->rows == NULL) {
        return refuse(EXIT_FAILED, "no memory for %" PRIu32 " CPUs.", options->cpus.count);
    }
    for (uint32_t i = 0; i < options->cpus.count; i++) {
        format_text(recorder->sources[i].name, sizeof recorder->sources[i].name, "cpu%" PRId32, options->cpus.cpus[i]);
        recorder->sources[i].what = "the kernel's timerlat thread";
    }
    int code = open_trace(session);
    if (code == EXIT_MEASURED) {
        code = run(session);
        if (!os_timerlat_close(session->trace)) {
            warn("not all settings of the kernel's timerlat could be put back. The next run tries again.");
        }
    }
    free(session->rows);
    return code;
}

int experiment_timerlat(int argc, char **argv)
{
    struct timerlat_options options;
    int code = EXIT_MEASURED;
    if (!timerlat_options_read(&options, argc, argv, &code)) {
        return code;
    }
    code = conditions_prepare(&options.conditions);
    if (code != EXIT_MEASURED) {
        return code;
    }
    const struct recording_options *const recording = &options.conditions.recording;
    const int64_t ring_rows = recording_ring_rows(recording, options.count, options.rhythm.period_ns);
    if (ring_rows < 0) {
        return EXIT_USAGE;
    }
    struct recorder recorder;
    const struct recorder_options recorder_options = recording_for_recorder(recording, ring_rows, 0, true);
    code = recorder_open(&recorder, &recorder_options, &interrupt_schema, options.cpus.count);
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct session session = {.options = &options, .recorder = &recorder};
    code = measure(&session);
    if (code == EXIT_MEASURED) {
        return recorder_close(&recorder);
    }
    recorder_abandon(&recorder);
    return code;
}
