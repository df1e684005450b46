/* The pieces of the recorder that see each other: draining, describing, the table. */
#ifndef TAUTO_RECORDER_PARTS_H
#define TAUTO_RECORDER_PARTS_H

#include "record/recorder.h"

enum { TABLE_SAMPLES = 0, TABLE_HISTOGRAM = 0, TABLE_EXTREMES = 1, TABLE_KEPT = 2 };

/* Two more with --every, behind those that are always there: its number, and the next one is that of the intervals. */
static inline uint8_t table_of_largest(const struct recorder *recorder)
{
    return recorder->options.keep_above_ns > 0 ? TABLE_KEPT + 1 : TABLE_KEPT;
}

/* Two more tables follow the others: its number, and the next one is that of the events. */
static inline uint8_t table_of_late_cycles(const struct recorder *recorder)
{
    const bool is_raw = recorder->options.record == RECORD_RAW;
    return is_raw ? TABLE_SAMPLES + 1 : table_of_largest(recorder) + (recorder->options.every_ns > 0 ? 2 : 0);
}

/* Taken and not kept: the ring was full, or the thread had left the real-time domain. */
static inline uint64_t source_dropped(const struct source *source)
{
    return atomic_load_explicit(&source->ring.dropped, memory_order_relaxed) + source->voided;
}

/* Takes everything that lies in the ring. */
void drain_source(struct recorder *recorder, uint16_t index);
/* `times`: how often it was called with this one, about once a second. */
void write_progress(struct recorder *recorder, uint64_t times);
/* What came into the bins of each source since the last call: counts of the same bin add up in the stream. */
void write_histograms(struct recorder *recorder);
/* Those that came since the last interval was told, and of each source its largest rows and its counts, as one row. */
void write_interval(struct recorder *recorder);
/* The row is among the largest of its interval, or not. */
void interval_look_at(struct source *source, const int64_t *row, uint32_t columns, int64_t value);
/* How many bytes of histograms the stream may have had after so much of a run, so that days of it stay small. */
uint64_t histogram_allowance_bytes(int64_t elapsed_ns);

bool all_finished(const struct recorder *recorder);
enum { WATCH_STACK_BYTES = 65536 };
/* From now on a thread of its own ends the run when it is asked to, or when a measuring thread does not sleep. */
void watch_begin(struct recorder *recorder);
/* By the drain: does it in its place where it could not be started. */
void watch_instead(struct recorder *recorder);
/* All have finished. */
void watch_end(struct recorder *recorder);

void write_stop_event(struct recorder *recorder);
void write_footer(struct recorder *recorder);
/* "complete", or what ended the run early. */
const char *how_it_ended(const struct recorder *recorder);

/* One of a table's columns in the header. */
void column_to_json(struct json *json, const char *name, const char *type, const char *unit, const char *meaning,
                    bool may_lack);

enum { US_TEXT_BYTES = 32 };
/* Microseconds with three decimals. */
void us_to_text(char text[US_TEXT_BYTES], int64_t ns);

/* False: it did not all go out. */
bool print_table(const struct recorder *recorder);

#endif
