/* Intervals of a long run (--every): what of each is told at its end, so that a stream that is cut off has all but one. */
#include "record/late.h"
#include "record/recorder_parts.h"

#include <string.h>

void interval_look_at(struct source *source, const int64_t *row, uint32_t columns, int64_t value)
{
    struct interval *const interval = &source->interval;
    interval->worst_ns = value > interval->worst_ns ? value : interval->worst_ns;
    /* The first column of each place is followed by the others; its value stands behind all rows. */
    int64_t *const values = interval->largest + (size_t)LARGEST_ROWS * columns;
    uint64_t at = interval->rows;
    if (at == LARGEST_ROWS) {
        if (value <= values[at - 1]) {
            return;
        }
        at--;
    } else {
        interval->rows++;
    }
    for (; at > 0 && values[at - 1] < value; at--) {
        values[at] = values[at - 1];
        memcpy(interval->largest + at * columns, interval->largest + (at - 1) * columns, columns * sizeof *row);
    }
    values[at] = value;
    memcpy(interval->largest + at * columns, row, columns * sizeof *row);
}

static void write_source(struct recorder *recorder, uint16_t index, const int64_t *now)
{
    enum { BEGIN = 1, CLOCKS = 3, COUNTS = 4, WORDS = BEGIN + CLOCKS + 1 + COUNTS + 2 };
    struct source *const source = &recorder->sources[index];
    struct interval *const interval = &source->interval;
    const uint8_t table = table_of_largest(recorder);
    const uint64_t dropped = source_dropped(source);
    const uint64_t counts[COUNTS] = {source->recorded + dropped,
                                     atomic_load_explicit(&source->counters.missed, memory_order_relaxed), dropped,
                                     late_count(recorder, index)};
    int64_t row[WORDS] = {interval->from_ns};
    memcpy(row + BEGIN, now, CLOCKS * sizeof *now);
    row[BEGIN + CLOCKS] = interval->worst_ns;
    for (int i = 0; i < COUNTS; i++) {
        row[BEGIN + CLOCKS + 1 + i] = (int64_t)(counts[i] - interval->told[i]);
        interval->told[i] = counts[i];
    }
    row[WORDS - 2] = (int64_t)interval->bins;
    row[WORDS - 1] = (int64_t)interval->rows;
    if (interval->rows > 0) {
        stream_write_rows(&recorder->stream, table, index, interval->largest,
                          interval->rows * recorder->schema->column_count * sizeof *row);
    }
    stream_write_rows(&recorder->stream, (uint8_t)(table + 1), index, row, sizeof row);
    interval->worst_ns = INT64_MIN;
    interval->from_ns = now[0];
    interval->bins = 0;
    interval->rows = 0;
}

void write_interval(struct recorder *recorder)
{
    write_histograms(recorder);
    const int64_t now[] = {os_now_ns(), os_wall_clock_ns(), os_time_since_boot_ns()};
    for (uint32_t index = 0; index < recorder->source_count; index++) {
        write_source(recorder, (uint16_t)index, now);
    }
    /* The drain may have stood still for more than one of them: that is one long interval, not several short ones behind it. */
    while (recorder->next_border_ns <= now[0]) {
        recorder->next_border_ns += recorder->options.every_ns;
    }
}
