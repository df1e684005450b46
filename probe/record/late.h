/*
 * Late cycles and what the system did meanwhile (--blame): the drain's part. It looks at each row that it takes from a ring,
 * and has the flight recorder (os/late_trace.h) copy the events of those that came late into the stream. The measuring
 * threads know nothing of it.
 */
#ifndef TAUTO_LATE_H
#define TAUTO_LATE_H

#include "os/late_trace.h"
#include "record/recorder.h"

enum { LATE_CYCLES_LIMIT = 2000, LATE_EVENTS_LIMIT = 2048, LATE_ALL_EVENTS_LIMIT = 1000000, LATE_ADDRESSES_LIMIT = 6000, LATE_STACKS_LIMIT = 1024 };

/* What the recording costs, seen by a thread that sleeps as the first source will: with it and without it in turn. */
struct late_cost {
    uint64_t cycles; /* of each kind; 0: it was not measured */
    int64_t median_with_ns;
    int64_t median_without_ns;
    int64_t p99_with_ns;
    int64_t p99_without_ns;
};

struct late_look {
    int64_t at_ns;
    struct os_counts counts;
};

struct late_source {
    struct histogram histogram; /* of the measure, where a share is late */
    void *memory;
    int64_t threshold_ns; /* in force now */
    int64_t worst_ns;     /* of its late cycles */
    int64_t thread;       /* its number; NO_VALUE: not known */
    uint64_t late;
    uint64_t kept;
    uint64_t lost_events;
    struct late_look before; /* the last two */
    struct late_look latest;
};

struct late {
    struct os_late_trace *trace; /* NULL: nothing records */
    const char *why;             /* why not, or why not a better one; empty: nothing to say */
    struct late_cost cost;
    struct cpu_list cpus;
    uint64_t kept;
    uint64_t kept_events;
    struct os_late_event *events; /* of one cycle */
    /* What those of all cycles name, addresses ascending. Each of the two events that tell it fits in one frame; what is
     * beyond stays without a name. */
    uint64_t *addresses;
    size_t address_count;
    int64_t *stacks;
    size_t stack_count;
    struct late_source sources[];
};

/* With recorder->options.blame.text only, and before the threads start. Where the system does not let anything record, it is
 * told and the run goes on. Returns as recorder_open. */
int late_open(struct recorder *recorder);
/* NULL is allowed, as in all that follow: nothing is done then. */
void late_close(struct recorder *recorder);
/* About once a second, and before the first. */
void late_keep_looking(struct recorder *recorder);
/* These rows were taken from the ring of the source, and written as the mode of recording wants it. */
void late_look_at(struct recorder *recorder, uint16_t index, const int64_t *rows, uint64_t count);

/* The header's tables and its "blame"; the keys of a source's book; the two events at the end. */
void late_tables_to_json(struct json *json, const struct recorder *recorder);
void late_to_json(struct json *json, const struct recorder *recorder);
/* So many cycles of the source came late so far; 0 where none are explained. */
uint64_t late_count(const struct recorder *recorder, uint32_t index);
void late_book_to_json(struct json *json, const struct recorder *recorder, uint32_t index);
void late_write_names(struct recorder *recorder);

/* Takes about a second. */
struct late_cost late_measure_cost(const struct recorder *recorder, struct os_late_trace *trace);

#endif
