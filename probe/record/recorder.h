/*
 * What every experiment shares: one ring for each source, an ordinary thread (the caller's) that drains them to
 * the stream or into histograms, another one that watches over them, the events, the books, and the end of the run, early
 * or not. From the header on, until
 * the sources have finished, it allocates nothing.
 *
 * A source is whoever takes the samples: a measuring thread, a clock. The measuring side touches its ring and its
 * counters and nothing else.
 */
#ifndef TAUTO_RECORDER_H
#define TAUTO_RECORDER_H

#include "record/calibrate.h"
#include "record/histogram.h"
#include "record/housekeeping.h"
#include "record/ring.h"
#include "record/stream.h"

#include <stdatomic.h>

enum { MEASURES_LIMIT = 8, ABSENCES_LIMIT = 16, LARGEST_ROWS = 8 };

enum record_mode { RECORD_RAW, RECORD_HISTOGRAM };
enum drain_mode { DRAIN_LIVE, DRAIN_AT_END };

struct column {
    const char *name;
    const char *meaning;
    const char *unit; /* NULL: ns */
};

/* An interval that an experiment is about: column `to` minus column `from` of one row. */
struct measure {
    const char *name;
    const char *meaning;
    uint32_t from;
    uint32_t to;
};

/* The rows of an experiment: columns of signed integers, and what is read from them. The first measure is the one
 * that progress is about; each has a histogram of its own. */
struct schema {
    const struct column *columns;
    uint32_t column_count;
    uint32_t measure_count;
    const struct measure *measures;
    uint32_t late_measure; /* the one that --blame is about */
    uint32_t may_lack; /* bit c: column c may hold NO_VALUE. The first measure lacks none */
    uint32_t reals; /* so many columns, the last ones, hold the bits of a double; none of them lacks its value */
};

/* In a column that may lack its value: it is not known. Measures of such a row are not known either. */
#define NO_VALUE INT64_MIN

/* A row of the table that this system can't give. */
struct absence {
    const char *name;
    const char *why;
};

/* Written by the source while it runs, final when it has finished. On cache lines of their own. */
struct counters {
    _Alignas(CACHE_LINE_BYTES) uint64_t released;
    uint64_t completed;
    _Atomic uint64_t missed; /* read live */
    uint64_t overruns;
    uint64_t rested; /* those of `missed` that fell into a rest of a spinning thread */
    uint64_t warmup;
    _Atomic uint64_t inband_switches; /* of the source's threads: they left the real-time domain */
    int64_t cpu_time_ns;              /* INT64_MIN where a thread can't tell */
};

struct source {
    char name[48];
    const char *what; /* in words for people, NULL where the name says it all */
    struct ring ring;
    struct counters counters;
    _Atomic bool finished;
    struct os_thread *thread; /* NULL where the caller itself is the source */
    struct clock_calibration clock_before; /* as its thread has it; all 0 where that is not known */
    struct clock_calibration clock_after;

    /* The draining side only. */
    _Alignas(CACHE_LINE_BYTES) struct histogram histograms[MEASURES_LIMIT];
    void *histogram_memory; /* of all of them; NULL where there are none */
    int64_t worst_ns[MEASURES_LIMIT];
    uint64_t recorded;
    uint64_t kept; /* of them, as whole rows beside the histograms */
    uint64_t voided; /* rows that were taken while a thread of the source left the real-time domain; dropped too */
    uint64_t dropped_told;
    uint64_t missed_told;
    int64_t worst_told_ns;
    int64_t last_ns;
    struct interval {      /* with --every: the one that is not told yet */
        int64_t *largest;  /* LARGEST_ROWS of its rows, those with the largest first measure, largest first */
        uint64_t rows;     /* of them */
        uint64_t bins;     /* rows of histograms that were written of it */
        int64_t worst_ns;
        int64_t from_ns;
        uint64_t told[4]; /* completed, missed, dropped and late cycles until its beginning */
    } interval;
    int64_t busy_since_ns; /* of the watchdog's second look: when the thread was last seen to rest, */
    int64_t busy_cpu_ns;   /* and the CPU time it had used by then */
};

/* Which cycles are explained (record/late.h). */
enum { BLAME_FINEST_SHARE = 1000 }; /* of SHARE_WHOLE: shares are multiples of it */
struct blame {
    const char *text; /* as it was asked for; NULL: none are */
    int64_t threshold_ns; /* late are those that reach it; 0: those beyond `share` */
    int64_t share;        /* of SHARE_WHOLE */
    int way;              /* enum os_late_way */
};

struct late;

struct recorder_options {
    const char *out; /* NULL: no stream, a table at the end */
    const char *housekeeping; /* CPUs of the threads that drain and watch; NULL: those that are not measured */
    enum record_mode record;
    enum drain_mode drain;
    int64_t keep_above_ns; /* beside histograms, rows with a measure that reaches this are kept whole; 0: none are */
    int64_t every_ns; /* histograms and counts of each such interval are written at its end; 0: as room allows */
    struct blame blame;
    uint64_t ring_rows;
    bool periodic; /* released and missed are counted */
    bool progress;     /* a line a second on standard error */
    int64_t budget_ns; /* for the watchdog, 0: none */
    /* The thread that is a source; NULL where none of them is a thread of this process. */
    struct os_thread_attributes (*thread_of)(const void *context, uint32_t source);
    int64_t (*number_of)(const void *context, uint32_t source); /* of its thread, where that is another program's; or NULL */
    const void *context;
};

struct recorder {
    struct recorder_options options;
    const struct schema *schema;
    struct source *sources;
    uint32_t source_count;
    struct absence absent[ABSENCES_LIMIT];
    uint32_t absent_count;
    /* What an experiment adds to the book of a source in the footer; NULL: nothing. */
    void (*own_books)(struct json *json, uint32_t source, const void *given);
    const void *own_given;
    struct stream stream;
    struct json event;        /* its memory serves every event of the run */
    uint64_t histogram_bytes; /* written so far */
    int64_t started_ns;       /* what the `started` event tells; 0: the end of the header */
    int64_t began_ns;         /* when the draining did */
    int64_t next_border_ns;   /* the end of the interval that goes on */
    bool streaming;           /* the output is open */
    struct late *late;        /* NULL: no cycles are explained */
    struct housekeeping housekeeping;
    struct os_thread *watcher; /* of the measuring threads; NULL: the drain does it itself */
    int64_t asked_ns;          /* when they were asked to end; 0: not yet */
    bool was_unpinned;         /* they did not come to the end on their own CPUs */
    struct clock_calibration clock_before;
    _Atomic bool stop;           /* the sources heed this and os_stop_requested() */
    _Atomic bool overrun_stop;   /* why, when a source asked for the end itself */
    _Atomic(const char *) failure; /* what went wrong in a source, in words; NULL where nothing did */
};

/* Allocates the rings and calibrates the clock. On failure prints what to do and returns the exit code of the
 * program, otherwise 0. */
int recorder_open(struct recorder *recorder, const struct recorder_options *options, const struct schema *schema,
                  uint32_t source_count);

/* What the table and the header say is not available here, and why. Before the header is begun. */
void recorder_add_absence(struct recorder *recorder, const char *name, const char *why);

/* Opens the output, and puts the caller on the CPUs for housekeeping: after everything else that can be refused, so that
 * a refusal leaves no file, when all measuring threads are there, and before the schedule begins, because it can take
 * its time. Returns as recorder_open. */
int recorder_open_output(struct recorder *recorder);

/* The header, in three steps: the common beginning, then the experiment adds "parameters", "sources", "process"
 * and what else it has, then the end, which writes it and the `started` event. Returns as recorder_open. In each
 * source's object the first keys come from recorder_source_to_json: number, name and, where there is one, `what`. */
void recorder_header_begin(const struct recorder *recorder, struct json *json, const char *experiment);
void recorder_source_to_json(const struct recorder *recorder, struct json *json, uint32_t source);
int recorder_header_end(struct recorder *recorder, struct json *json);

/* Drains until every source has finished, a stop was requested, or the output failed; then waits for the sources. */
void recorder_run(struct recorder *recorder);

/* Writes histograms and footer, or prints the table; frees everything. Returns the exit code. */
int recorder_close(struct recorder *recorder);
/* The same without a result, when nothing was measured. */
void recorder_abandon(struct recorder *recorder);

/* The calling thread takes part in what is measured: from now on it may not leave the real-time domain unseen. Returns
 * the CPU time that it has used, for source_cpu_time_since. */
int64_t source_join(struct source *source);
/* INT64_MIN where a thread can't tell. */
static inline int64_t source_cpu_time_since(int64_t before_ns)
{
    const int64_t now_ns = os_thread_cpu_time_ns();
    return now_ns != INT64_MIN ? now_ns - before_ns : INT64_MIN;
}

/* The source has finished. Its last act: nothing of it is touched by its own thread afterwards. */
static inline void source_finish(struct source *source)
{
    atomic_store_explicit(&source->finished, true, memory_order_release);
}

/* Something went wrong in a source: the run ends, and its footer says `why`, text that stays. The first one counts. */
void recorder_fail(struct recorder *recorder, const char *why);

static inline bool recorder_stopping(const struct recorder *recorder)
{
    return atomic_load_explicit(&recorder->stop, memory_order_relaxed) || os_stop_requested() != OS_STOP_NONE;
}

#endif
