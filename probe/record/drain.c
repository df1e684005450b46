/* From the rings to the stream and the histograms: the only reader of the rings, in an ordinary thread. */
#include "record/recorder_parts.h"
#include "message.h"

#include <inttypes.h>

enum { ROWS_BYTES_PER_FRAME = 65536 };

/* A running maximum, in histogram mode, with the instants that belong to it. */
static void write_extreme(struct recorder *recorder, uint16_t index, const int64_t *row)
{
    stream_write_rows(&recorder->stream, TABLE_EXTREMES, index, row,
                      recorder->schema->column_count * sizeof(int64_t));
}

static void look_at_rows(struct recorder *recorder, uint16_t index, const int64_t *rows, uint64_t count)
{
    struct source *const source = &recorder->sources[index];
    const struct schema *const schema = recorder->schema;
    const bool streams_raw = recorder->streaming && recorder->options.record == RECORD_RAW;
    const bool streams_extremes = recorder->streaming && recorder->options.record == RECORD_HISTOGRAM;

    for (uint64_t i = 0; i < count; i++) {
        const int64_t *const row = rows + i * schema->column_count;
        for (uint32_t m = 0; m < schema->measure_count && !streams_raw; m++) {
            const int64_t value = row[schema->measures[m].to] - row[schema->measures[m].from];
            if (histogram_add(&source->histograms[m], value) != OS_OK) {
                recorder_fail(recorder, "no memory for the histogram");
            }
        }
        const int64_t value = row[schema->measures[0].to] - row[schema->measures[0].from];
        if (value > source->worst_ns) {
            source->worst_ns = value;
            if (streams_extremes) {
                write_extreme(recorder, index, row);
            }
        }
        source->last_ns = value;
    }
    source->recorded += count;
}

static void tell_dropped(struct recorder *recorder, uint16_t index)
{
    struct source *const source = &recorder->sources[index];
    const uint64_t dropped = source_dropped(source);
    if (dropped == source->dropped_told) {
        return;
    }
    if (recorder->streaming) {
        struct json json;
        json_begin(&json);
        json_open_object(&json, NULL);
        json_text(&json, "event", "dropped");
        json_integer(&json, "time_ns", os_now_ns());
        json_integer(&json, "source", index);
        json_unsigned(&json, "rows", dropped - source->dropped_told);
        json_close_object(&json);
        stream_write_json(&recorder->stream, FRAME_EVENT, &json);
        json_free(&json);
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

void write_histograms(struct recorder *recorder)
{
    enum { BINS_PER_FRAME = 2048, BIN_WORDS = 3 };
    for (uint32_t index = 0; index < recorder->source_count; index++) {
        int64_t words[BINS_PER_FRAME * BIN_WORDS];
        size_t used = 0;
        size_t at = 0;
        struct histogram_bin bin;
        struct histogram *const histogram = &recorder->sources[index].histograms[0];
        bool more = histogram_next(histogram, &at, &bin);
        while (more) {
            words[used] = bin.low;
            words[used + 1] = bin.high;
            words[used + 2] = (int64_t)bin.count;
            used += BIN_WORDS;
            more = histogram_next(histogram, &at, &bin);
            if (!more || used == sizeof words / sizeof words[0]) {
                stream_write_rows(&recorder->stream, TABLE_HISTOGRAM, (uint16_t)index, words,
                                  used * sizeof words[0]);
                used = 0;
            }
        }
        histogram_clear(histogram);
    }
}

static void print_progress(const struct recorder *recorder)
{
    uint64_t completed = 0;
    uint64_t missed = 0;
    int64_t worst_ns = INT64_MIN;
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        const struct source *const source = &recorder->sources[i];
        completed += source->recorded + source->dropped_told;
        missed += atomic_load_explicit(&source->counters.missed, memory_order_relaxed);
        worst_ns = source->worst_ns > worst_ns ? source->worst_ns : worst_ns;
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

void write_progress(struct recorder *recorder)
{
    if (recorder->options.progress) {
        print_progress(recorder);
    }
    if (!recorder->streaming || recorder->options.drain == DRAIN_AT_END) {
        return;
    }
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "event", "progress");
    json_integer(&json, "time_ns", os_now_ns());
    json_open_array(&json, "sources");
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        const struct source *const source = &recorder->sources[i];
        json_open_object(&json, NULL);
        json_integer(&json, "source", i);
        json_unsigned(&json, "completed", source->recorded + source->dropped_told);
        json_unsigned(&json, "missed", atomic_load_explicit(&source->counters.missed, memory_order_relaxed));
        json_integer_or_null(&json, "worst_ns", source->worst_ns);
        json_integer_or_null(&json, "last_ns", source->last_ns);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    stream_write_json(&recorder->stream, FRAME_EVENT, &json);
    json_free(&json);
}
