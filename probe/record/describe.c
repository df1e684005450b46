/* The stream's own description: header, start and stop events, footer (docs/stream.md). */
#include "message.h"
#include "record/late.h"
#include "record/recorder_parts.h"
#include "record/ruler.h"

void column_to_json(struct json *json, const char *name, const char *type, const char *unit, const char *meaning,
                    bool may_lack)
{
    json_open_object(json, NULL);
    json_text(json, "name", name);
    json_text(json, "type", type);
    json_text(json, "unit", unit);
    json_text(json, "meaning", meaning);
    if (may_lack) {
        json_integer(json, "null", NO_VALUE);
    }
    json_close_object(json);
}

static void samples_to_json(struct json *json, const char *name, const struct schema *schema)
{
    json_open_object(json, NULL);
    json_text(json, "name", name);
    json_open_array(json, "columns");
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const struct column *const column = &schema->columns[i];
        const bool is_real = i >= schema->column_count - schema->reals;
        column_to_json(json, column->name, is_real ? "f64" : "i64", column->unit != NULL ? column->unit : "ns",
                       column->meaning, !is_real && (schema->may_lack >> i & 1U) != 0);
    }
    json_close_array(json);
    json_close_object(json);
}

/* In the order in which write_interval has them. */
static void intervals_to_json(struct json *json)
{
    static const char names[][10] = {"from_ns",   "until_ns", "wall_ns", "boot_ns", "worst_ns", "completed",
                                     "missed", "dropped", "late", "bins", "largest"};
    enum { COUNTS = 6, NAMES = sizeof names / sizeof names[0] };
    json_open_object(json, NULL);
    json_text(json, "name", "intervals");
    json_open_array(json, "columns");
    for (int i = 0; i < NAMES; i++) {
        const bool is_count = i >= NAMES - COUNTS;
        column_to_json(json, names[i], is_count ? "u64" : "i64", is_count ? "1" : "ns", "",
                       i == NAMES - COUNTS - 1 || i == NAMES - COUNTS - 2);
    }
    json_close_array(json);
    json_close_object(json);
}

static void tables_to_json(struct json *json, const struct recorder *recorder)
{
    json_open_array(json, "tables");
    if (recorder->options.record == RECORD_RAW) {
        samples_to_json(json, "samples", recorder->schema);
    } else {
        json_open_object(json, NULL);
        json_text(json, "name", "histogram");
        json_open_array(json, "columns");
        column_to_json(json, "measure", "u64", "1", "of which measure, by its place in the list of measures", false);
        column_to_json(json, "low_ns", "i64", "ns", "lowest value of the bin", false);
        column_to_json(json, "high_ns", "i64", "ns", "highest value of the bin, included", false);
        column_to_json(json, "count", "u64", "1", "values in the bin", false);
        json_close_array(json);
        json_close_object(json);
        samples_to_json(json, "extremes", recorder->schema);
        if (recorder->options.keep_above_ns > 0) {
            samples_to_json(json, "kept", recorder->schema);
        }
        if (recorder->options.every_ns > 0) {
            samples_to_json(json, "largest", recorder->schema);
            intervals_to_json(json);
        }
    }
    late_tables_to_json(json, recorder);
    json_close_array(json);
}

static void measures_to_json(struct json *json, const struct recorder *recorder)
{
    const struct schema *const schema = recorder->schema;
    json_open_array(json, "measures");
    for (uint32_t i = 0; i < schema->measure_count; i++) {
        const struct measure *const measure = &schema->measures[i];
        json_open_object(json, NULL);
        json_text(json, "name", measure->name);
        json_text(json, "table", recorder->options.record == RECORD_RAW ? "samples" : "extremes");
        json_text(json, "from", schema->columns[measure->from].name);
        json_text(json, "to", schema->columns[measure->to].name);
        json_text(json, "meaning", measure->meaning);
        json_close_object(json);
    }
    json_close_array(json);
}

static void absences_to_json(struct json *json, const struct recorder *recorder)
{
    if (recorder->absent_count == 0) {
        return;
    }
    json_open_array(json, "absent");
    for (uint32_t i = 0; i < recorder->absent_count; i++) {
        json_open_object(json, NULL);
        json_text(json, "name", recorder->absent[i].name);
        json_text(json, "why", recorder->absent[i].why);
        json_close_object(json);
    }
    json_close_array(json);
}

/* One pair of simultaneous readings: of a few tries, the one in the tightest bracket. */
static void epoch_to_json(struct json *json)
{
    enum { TRIES = 7 };
    int64_t tightest_ns = INT64_MAX;
    int64_t monotonic_ns = 0;
    int64_t realtime_ns = 0;
    for (int i = 0; i < TRIES; i++) {
        const int64_t before_ns = os_now_ns();
        const int64_t wall_ns = os_wall_clock_ns();
        const int64_t bracket_ns = os_now_ns() - before_ns;
        if (bracket_ns < tightest_ns) {
            tightest_ns = bracket_ns;
            monotonic_ns = before_ns + bracket_ns / 2;
            realtime_ns = wall_ns;
        }
    }
    json_open_object(json, "epoch");
    json_integer(json, "monotonic_ns", monotonic_ns);
    json_integer(json, "realtime_ns", realtime_ns);
    json_close_object(json);
}

void recorder_header_begin(const struct recorder *recorder, struct json *json, const char *experiment)
{
    struct os_facts facts;
    os_facts_read(&facts);
    json_begin(json);
    json_open_object(json, NULL);
    json_integer(json, "stream", 1);
    json_text(json, "program", "tauto-probe");
    json_text(json, "version", TAUTO_VERSION);
    json_text(json, "experiment", experiment);
    json_open_object(json, "system");
    json_text(json, "name", facts.name);
    json_text(json, "release", facts.release);
    json_text(json, "version", facts.version);
    json_text(json, "machine", facts.machine);
    if (facts.core[0] != '\0') {
        json_text(json, "core", facts.core);
    }
    if (facts.emulator[0] != '\0') {
        json_text(json, "emulator", facts.emulator);
    }
    json_close_object(json);
    calibration_to_json(json, "clock", &recorder->clock_before);
    epoch_to_json(json);
    tables_to_json(json, recorder);
    measures_to_json(json, recorder);
    absences_to_json(json, recorder);
    housekeeping_to_json(json, recorder->options.housekeeping, &recorder->housekeeping);
    late_to_json(json, recorder);
}

void recorder_source_to_json(const struct recorder *recorder, struct json *json, uint32_t source)
{
    json_integer(json, "source", source);
    json_text(json, "name", recorder->sources[source].name);
    if (recorder->sources[source].what != NULL) {
        json_text(json, "what", recorder->sources[source].what);
    }
    ruler_to_json(json, &recorder->sources[source]);
}

static int refuse_output(const char *path, enum os_status status)
{
    switch (status) {
    case OS_EXISTS:
        return refuse(EXIT_USAGE, "--out %s: it exists already and holds data.\nGive --out a new name.", path);
    case OS_NOT_PERMITTED:
        return refuse(EXIT_NOT_PERMITTED, "--out %s: it can't be written: not permitted.\nGive --out a place you may write to.",
                      path);
    default:
        return refuse(EXIT_USAGE, "--out %s: it can't be opened for writing: %s.", path, os_status_text(status));
    }
}

/* Told only: where it is refused, the run is as good as one without it, and the header says so. */
static void keep_house(struct recorder *recorder)
{
    if (recorder->options.housekeeping == NULL) {
        (void)housekeeping_choose(&recorder->housekeeping, NULL); /* nothing is asked for that could be refused */
    }
    const enum os_status status = housekeeping_begin(&recorder->housekeeping);
    if (status != OS_OK) {
        warn("the threads that drain and watch can't be kept on CPUs that are not measured: %s.", os_status_text(status));
        recorder->housekeeping.cpus.count = 0;
    }
}

int recorder_open_output(struct recorder *recorder)
{
    keep_house(recorder);
    if (recorder->options.out == NULL) {
        return EXIT_MEASURED;
    }
    const enum os_status status = stream_open(&recorder->stream, recorder->options.out);
    recorder->streaming = status == OS_OK;
    return recorder->streaming ? EXIT_MEASURED : refuse_output(recorder->options.out, status);
}

/* Not handed on yet: with a slow reader that could take until after the first release. */
int recorder_header_end(struct recorder *recorder, struct json *json)
{
    json_close_object(json);
    bool written = true;
    if (recorder->streaming) {
        struct json started;
        json_begin(&started);
        json_open_object(&started, NULL);
        json_text(&started, "event", "started");
        json_integer(&started, "time_ns", recorder->started_ns != 0 ? recorder->started_ns : os_now_ns());
        json_integer(&started, "sources", recorder->source_count);
        json_close_object(&started);
        written = stream_write_json(&recorder->stream, FRAME_HEADER, json) &&
                  stream_write_json(&recorder->stream, FRAME_EVENT, &started);
        json_free(&started);
    }
    json_free(json);
    return written ? EXIT_MEASURED
                   : refuse(EXIT_FAILED, "--out %s: it can't be written: is the disk full, did the reader go away?",
                            recorder->options.out);
}

const char *how_it_ended(const struct recorder *recorder)
{
    if ((recorder->streaming && recorder->stream.failed) || atomic_load(&recorder->failure) != NULL) {
        return "failed";
    }
    if (atomic_load(&recorder->overrun_stop)) {
        return "overrun";
    }
    switch (os_stop_requested()) {
    case OS_STOP_WATCHDOG:
        return "watchdog";
    case OS_STOP_INTERRUPTED:
    case OS_STOP_AT_ONCE:
        return "interrupted";
    case OS_STOP_NONE:
        break;
    }
    return "complete";
}

void write_stop_event(struct recorder *recorder)
{
    if (!recorder->streaming || recorder->options.drain == DRAIN_AT_END) {
        return; /* how it ended stands in the footer too */
    }
    struct json *const json = &recorder->event;
    json_restart(json);
    json_open_object(json, NULL);
    json_text(json, "event", "stop");
    json_integer(json, "time_ns", os_now_ns());
    json_text(json, "reason", how_it_ended(recorder));
    json_close_object(json);
    stream_write_json(&recorder->stream, FRAME_EVENT, json);
}

static void books_to_json(struct json *json, const struct recorder *recorder, uint32_t index)
{
    const struct source *const source = &recorder->sources[index];
    const struct counters *const counters = &source->counters;
    json_open_object(json, NULL);
    json_integer(json, "source", index);
    if (recorder->options.periodic) {
        json_unsigned(json, "released", counters->released);
    }
    json_unsigned(json, "completed", counters->completed);
    if (recorder->options.periodic) {
        json_unsigned(json, "missed", atomic_load(&counters->missed));
        json_unsigned(json, "overruns", counters->overruns);
        json_unsigned(json, "rested", counters->rested);
        json_unsigned(json, "warmup", counters->warmup);
    }
    json_unsigned(json, "recorded", source->recorded);
    if (recorder->options.keep_above_ns > 0) {
        json_unsigned(json, "kept", source->kept);
    }
    json_unsigned(json, "dropped", source_dropped(source));
    late_book_to_json(json, recorder, index);
    if (source->ring.voids != NULL) {
        json_unsigned(json, "voided", source->voided);
        json_unsigned(json, "inband_switches", atomic_load(&counters->inband_switches));
    }
    json_integer_or_null(json, "cpu_time_ns", counters->cpu_time_ns);
    if (recorder->own_books != NULL) {
        recorder->own_books(json, index, recorder->own_given);
    }
    json_close_object(json);
}

void write_footer(struct recorder *recorder)
{
    ruler_take_after(recorder);
    const struct clock_calibration clock_after = ruler_slowest(recorder, true);
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "ended", how_it_ended(recorder));
    const char *const failure = atomic_load(&recorder->failure);
    if (failure != NULL) {
        json_text(&json, "reason", failure);
    }
    json_open_array(&json, "books");
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        books_to_json(&json, recorder, i);
    }
    json_close_array(&json);
    calibration_to_json(&json, "clock", &clock_after);
    rulers_to_json(&json, recorder);
    json_close_object(&json);
    stream_write_json(&recorder->stream, FRAME_FOOTER, &json);
    json_free(&json);
}
