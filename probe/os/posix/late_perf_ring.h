/*
 * The ring of one CPU that perf_event_open(2) shares with us, written backward and over its oldest records, and a look at
 * what it has: a private copy, for the kernel goes on writing meanwhile.
 */
#ifndef TAUTO_POSIX_LATE_PERF_RING_H
#define TAUTO_POSIX_LATE_PERF_RING_H

#include "late_perf_events.h"

struct late_ring {
    int32_t cpu;
    void *pages;  /* NULL: not mapped */
    size_t bytes; /* of records, a power of two; a page of the kernel's own lies before them */
    uint32_t count;
    int events[LATE_LAYOUTS_LIMIT];     /* one for each layout, the first leads the others; -1: refused */
    uint64_t numbers[LATE_LAYOUTS_LIMIT]; /* by which records tell whose they are */
};

struct late_record {
    int64_t time_ns;
    uint32_t at; /* in `bytes` */
    uint32_t layout;
};

/* Records of one CPU, the latest first. */
struct late_view {
    const struct late_layout *layouts;
    uint8_t *bytes;
    size_t most_bytes;
    struct late_record *records;
    size_t most_records;

    const struct late_ring *ring; /* NULL: nothing has been looked at */
    size_t count;
    int64_t taken_ns; /* it has everything until then */
    int64_t from_ns;  /* ... and from then on, as far as `complete` */
    bool complete;
};

enum os_status late_view_create(struct late_view *view, const struct late_layout *layouts, size_t ring_bytes);
void late_view_destroy(struct late_view *view);

/* All records from `from_ns` on, and before them the last switch; those until `until_ns` at least. */
void late_view_look(struct late_view *view, const struct late_ring *ring, int64_t from_ns, int64_t until_ns);

/* Turns a record of the view into an event. False: not understood. */
bool late_view_decode(const struct late_view *view, const struct late_record *record, struct os_late_event *event);

#endif
