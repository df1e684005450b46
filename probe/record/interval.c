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

static void write_source(struct recorder *recorder, uint16_t index, int64_t until_ns, int64_t wall_ns)
{
    struct source *const source = &recorder->sources[index];
    struct interval *const interval = &source->interval;
    const uint64_t dropped = source_dropped(source);
    const uint64_t completed = source->recorded + dropped;
    const uint64_t missed = atomic_load_explicit(&source->counters.missed, memory_order_relaxed);
    const uint64_t late = late_count(recorder, index);
    const uint8_t table = table_of_largest(recorder);
    if (interval->rows > 0) {
        stream_write_rows(&recorder->stream, table, index, interval->largest,
                          interval->rows * recorder->schema->column_count * sizeof(int64_t));
    }
    const int64_t row[] = {
        recorder->intervals == 0 ? recorder->began_ns : interval->from_ns,
        until_ns,
        wall_ns,
        os_time_since_boot_ns(),
        interval->worst_ns,
        (int64_t)(completed - interval->completed),
        (int64_t)(missed - interval->missed),
        (int64_t)(dropped - interval->dropped),
        (int64_t)(late - interval->late),
        (int64_t)interval->bins,
        (int64_t)interval->rows,
    };
    stream_write_rows(&recorder->stream, (uint8_t)(table + 1), index, row, sizeof row);
    *interval = (struct interval){.largest = interval->largest,
                                  .worst_ns = INT64_MIN,
                                  .from_ns = until_ns,
                                  .completed = completed,
                                  .missed = missed,
                                  .dropped = dropped,
                                  .late = late};
}

void write_interval(struct recorder *recorder)
{
    write_histograms(recorder);
    const int64_t until_ns = os_now_ns();
    const int64_t wall_ns = os_wall_clock_ns();
    for (uint32_t index = 0; index < recorder->source_count; index++) {
        write_source(recorder, (uint16_t)index, until_ns, wall_ns);
    }
    recorder->intervals++;
}
