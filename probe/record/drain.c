/* From the rings to the stream and the histograms: the only reader of the rings, in an ordinary thread. */
#include "record/recorder_parts.h"
#include "message.h"
#include "record/late.h"

#include <inttypes.h>

enum { ROWS_BYTES_PER_FRAME = 65536 };

static bool lacks_value(const struct schema *schema, const struct measure *measure, const int64_t *row)
{
    return schema->may_lack != 0 && (row[measure->to] == NO_VALUE || row[measure->from] == NO_VALUE);
}

/* Into the histograms of its measures. A running maximum of any of them goes into the stream with the instants that
 * belong to it, and so does a row that is to be kept whole. */
static void look_at_row(struct recorder *recorder, uint16_t index, const int64_t *row)
{
    struct source *const source = &recorder->sources[index];
    const struct schema *const schema = recorder->schema;
    const int64_t keep_above_ns = recorder->options.keep_above_ns;
    bool is_worst = false;
    bool is_kept = false;
    for (uint32_t m = 0; m < schema->measure_count; m++) {
        if (lacks_value(schema, &schema->measures[m], row)) {
            continue;
        }
        const int64_t value = row[schema->measures[m].to] - row[schema->measures[m].from];
        histogram_add(&source->histograms[m], value);
        is_kept = is_kept || (keep_above_ns > 0 && value >= keep_above_ns);
        if (m == 0 && source->interval.largest != NULL) {
            interval_look_at(source, row, schema->column_count, value);
        }
        if (value > source->worst_ns[m]) {
            source->worst_ns[m] = value;
            is_worst = true;
        }
    }
    if (!recorder->streaming) {
        return;
    }
    const size_t row_bytes = schema->column_count * sizeof(int64_t);
    if (is_worst) {
        stream_write_rows(&recorder->stream, TABLE_EXTREMES, index, row, row_bytes);
    }
    if (is_kept && stream_write_rows(&recorder->stream, TABLE_KEPT, index, row, row_bytes)) {
        source->kept++;
    }
}

static void look_at_rows(struct recorder *recorder, uint16_t index, const int64_t *rows, uint64_t count)
{
    struct source *const source = &recorder->sources[index];
    const struct schema *const schema = recorder->schema;
    const struct measure *const first = &schema->measures[0];
    const bool streams_raw = recorder->streaming && recorder->options.record == RECORD_RAW;

    for (uint64_t i = 0; i < count; i++) {
        const int64_t *const row = rows + i * schema->column_count;
        source->last_ns = row[first->to] - row[first->from];
        if (!streams_raw) {
            look_at_row(recorder, index, row);
        } else if (source->last_ns > source->worst_ns[0]) {
            source->worst_ns[0] = source->last_ns;
        }
    }
    source->recorded += count;
    late_look_at(recorder, index, rows, count);
}

static void tell_dropped(struct recorder *recorder, uint16_t index)
{
    struct source *const source = &recorder->sources[index];
    const uint64_t dropped = source_dropped(source);
    if (dropped == source->dropped_told) {
        return;
    }
    if (recorder->streaming) {
        struct json *const json = &recorder->event;
        json_restart(json);
        json_open_object(json, NULL);
        json_text(json, "event", "dropped");
        json_integer(json, "time_ns", os_now_ns());
        json_integer(json, "source", index);
        json_unsigned(json, "rows", dropped - source->dropped_told);
        json_close_object(json);
        stream_write_json(&recorder->stream, FRAME_EVENT, json);
    }
    source->dropped_told = dropped;
}

void drain_source(struct recorder *recorder, uint16_t index)
{
    struct source *const source = &recorder->sources[index];
    const size_t row_bytes = recorder->schema->column_count * sizeof(int64_t);
    const bool streams_raw = recorder->streaming && recorder->options.record == RECORD_RAW;
    const uint64_t most = ROWS_BYTES_PER_FRAME / row_bytes;

    /* What lies there now; a source that is faster than the output must not keep us from the others. */
    for (uint64_t left = ring_waiting(&source->ring); left > 0;) {
        uint64_t count = 0;
        const int64_t *const rows = ring_peek(&source->ring, &count);
        if (count == 0) { /* void: its thread left the real-time domain meanwhile */
            ring_release(&source->ring, 1);
            source->voided++;
            left--;
            continue;
        }
        count = count < most ? count : most;
        count = count < left ? count : left;
        if (streams_raw &&
            !stream_write_rows(&recorder->stream, TABLE_SAMPLES, index, rows, count * row_bytes)) {
            return; /* not taken: the run ends as failed, and the ring counts what follows as dropped */
        }
        look_at_rows(recorder, index, rows, count);
        ring_release(&source->ring, count);
        left -= count;
    }
    tell_dropped(recorder, index);
}

static void write_histogram(struct recorder *recorder, uint16_t index, uint32_t measure)
{
    enum { BINS_PER_FRAME = 2048, BIN_WORDS = 4 };
    struct histogram *const histogram = &recorder->sources[index].histograms[measure];
    int64_t words[BINS_PER_FRAME * BIN_WORDS];
    size_t used = 0;
    size_t at = 0;
    struct histogram_bin bin;
    bool more = histogram_next(histogram, &at, &bin);
    while (more) {
        words[used] = measure;
        words[used + 1] = bin.low;
        words[used + 2] = bin.high;
        words[used + 3] = (int64_t)bin.count;
        used += BIN_WORDS;
        more = histogram_next(histogram, &at, &bin);
        if (!more || used == sizeof words / sizeof words[0]) {
            stream_write_rows(&recorder->stream, TABLE_HISTOGRAM, index, words, used * sizeof words[0]);
            recorder->histogram_bytes += used * sizeof words[0];
            recorder->sources[index].interval.bins += used / BIN_WORDS;
            used = 0;
        }
    }
    histogram_clear(histogram);
}

void write_histograms(struct recorder *recorder)
{
    for (uint32_t index = 0; index < recorder->source_count; index++) {
        for (uint32_t m = 0; m < recorder->schema->measure_count; m++) {
            write_histogram(recorder, (uint16_t)index, m);
        }
    }
}

uint64_t histogram_allowance_bytes(int64_t elapsed_ns)
{
    enum { AT_ONCE_BYTES = 10000000, BYTES_PER_DAY = 20000000, S_PER_DAY = 86400, NS_PER_S = 1000000000 };
    return AT_ONCE_BYTES + (uint64_t)(elapsed_ns / NS_PER_S) * BYTES_PER_DAY / S_PER_DAY;
}

static void print_progress(struct recorder *recorder)
{
    uint64_t completed = 0;
    uint64_t missed = 0;
    int64_t worst_ns = INT64_MIN;
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        struct source *const source = &recorder->sources[i];
        completed += source->recorded + source->dropped_told + ring_waiting(&source->ring);
        missed += atomic_load_explicit(&source->counters.missed, memory_order_relaxed);
        worst_ns = source->worst_ns[0] > worst_ns ? source->worst_ns[0] : worst_ns;
    }
    print_error("completed %" PRIu64, completed);
    if (recorder->options.periodic) {
        print_error(", missed %" PRIu64, missed);
    }
    if (worst_ns != INT64_MIN) {
        char worst[US_TEXT_BYTES];
        us_to_text(worst, worst_ns);
        print_error(", worst %s us", worst);
    }
    print_error("\n");
}

/* Of 64 CPUs this would be more in a day than the day's histograms. So after its first minutes, while somebody may still
 * look on, a run tells of a few sources at a time, in turn, and at once of those that are worse than was told. */
enum { TOLD_AT_ONCE = 2, TIMES_TOLD_IN_FULL = 300 };

static bool is_told(const struct recorder *recorder, uint32_t index, uint64_t times)
{
    const struct source *const source = &recorder->sources[index];
    const uint64_t turns = (recorder->source_count + TOLD_AT_ONCE - 1) / TOLD_AT_ONCE;
    return times <= TIMES_TOLD_IN_FULL || index / TOLD_AT_ONCE == times % turns ||
           source->worst_ns[0] > source->worst_told_ns ||
           atomic_load_explicit(&source->counters.missed, memory_order_relaxed) != source->missed_told;
}

static void tell_source(struct recorder *recorder, uint32_t index)
{
    struct json *const json = &recorder->event;
    struct source *const source = &recorder->sources[index];
    source->missed_told = atomic_load_explicit(&source->counters.missed, memory_order_relaxed);
    source->worst_told_ns = source->worst_ns[0];
    json_open_object(json, NULL);
    json_integer(json, "source", index);
    json_unsigned(json, "completed", source->recorded + source->dropped_told);
    json_unsigned(json, "missed", source->missed_told);
    json_integer_or_null(json, "worst_ns", source->worst_told_ns);
    json_integer_or_null(json, "last_ns", source->last_ns);
    json_close_object(json);
}

void write_progress(struct recorder *recorder, uint64_t times)
{
    if (recorder->options.progress) {
        print_progress(recorder);
    }
    if (!recorder->streaming || recorder->options.drain == DRAIN_AT_END) {
        return;
    }
    struct json *const json = &recorder->event;
    json_restart(json);
    json_open_object(json, NULL);
    json_text(json, "event", "progress");
    json_integer(json, "time_ns", os_now_ns());
    json_open_array(json, "sources");
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        if (is_told(recorder, i, times)) {
            tell_source(recorder, i);
        }
    }
    json_close_array(json);
    json_close_object(json);
    stream_write_json(&recorder->stream, FRAME_EVENT, json);
}
