/*
 * What every experiment shares: one ring for each source, an ordinary thread (the caller's) that drains them to
 * the stream or into histograms, the events, the books, and the end of the run, early or not.
 *
 * A source is whoever takes the samples: a measuring thread, a clock. The measuring side touches its ring and its
 * counters and nothing else.
 */
#ifndef TAUTO_RECORDER_H
#define TAUTO_RECORDER_H

#include "record/calibrate.h"
#include "record/histogram.h"
#include "record/ring.h"
#include "record/stream.h"

#include <stdatomic.h>

enum record_mode { RECORD_RAW, RECORD_HISTOGRAM };
enum drain_mode { DRAIN_LIVE, DRAIN_AT_END };

struct column {
    const char *name;
    const char *meaning;
};

/* The rows of an experiment: columns of signed nanoseconds, and the interval it is about. */
struct schema {
    const struct column *columns;
    uint32_t column_count;
    uint32_t from;
    uint32_t to;
    const char *measure;
    const char *measure_meaning;
};

/* Written by the source while it runs, final when it has finished. On cache lines of their own. */
struct counters {
    _Alignas(CACHE_LINE_BYTES) uint64_t released;
    uint64_t completed;
    _Atomic uint64_t missed; /* read live */
    uint64_t overruns;
    uint64_t rested; /* those of `missed` that fell into a rest of a spinning thread */
    uint64_t warmup;
    int64_t cpu_time_ns;
};

struct source {
    char name[32];
    struct ring ring;
    struct counters counters;
    _Atomic bool finished;
    struct os_thread *thread; /* NULL where the caller itself is the source */

    /* The draining side only. */
    _Alignas(CACHE_LINE_BYTES) struct histogram histogram;
    uint64_t recorded;
    uint64_t dropped_told;
    int64_t worst_ns;
    int64_t last_ns;
    int64_t busy_since_ns; /* of the watchdog's second look: when the thread was last seen to rest, */
    int64_t busy_cpu_ns;   /* and the CPU time it had used by then */
};

struct recorder_options {
    const char *out; /* NULL: no stream, a table at the end */
    enum record_mode record;
    enum drain_mode drain;
    uint64_t ring_rows;
    bool periodic; /* released and missed are counted */
    bool progress;     /* a line a second on standard error */
    int64_t budget_ns; /* for the watchdog, 0: none */
};

struct recorder {
    struct recorder_options options;
    const struct schema *schema;
    struct source *sources;
    uint32_t source_count;
    struct stream stream;
    bool streaming; /* the output is open */
    struct clock_calibration clock_before;
    _Atomic bool stop;           /* the sources heed this and os_stop_requested() */
    _Atomic bool overrun_stop;   /* why, when a source asked for the end itself */
};

/* Calibrates the clock and allocates the rings. On failure prints what to do and returns the exit code of the
 * program, otherwise 0. */
int recorder_open(struct recorder *recorder, const struct recorder_options *options, const struct schema *schema,
                  uint32_t source_count);

/* Opens the output: after everything else that can be refused, so that a refusal leaves no file, and before the
 * schedule begins, because it can take its time. Returns as recorder_open. */
int recorder_open_output(struct recorder *recorder);

/* The header, in three steps: the common beginning, then the experiment adds "parameters", "sources", "process"
 * and what else it has, then the end, which writes it and the `started` event. Returns as recorder_open. */
void recorder_header_begin(const struct recorder *recorder, struct json *json, const char *experiment);
int recorder_header_end(struct recorder *recorder, struct json *json);

/* Drains until every source has finished, a stop was requested, or the output failed; then waits for the sources. */
void recorder_run(struct recorder *recorder);

/* Writes histograms and footer, or prints the table; frees everything. Returns the exit code. */
int recorder_close(struct recorder *recorder);
/* The same without a result, when nothing was measured. */
void recorder_abandon(struct recorder *recorder);

static inline bool recorder_stopping(const struct recorder *recorder)
{
    return atomic_load_explicit(&recorder->stop, memory_order_relaxed) || os_stop_requested() != OS_STOP_NONE;
}

#endif
