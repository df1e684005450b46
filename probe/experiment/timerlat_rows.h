/*
 * From what the kernel's timerlat tells about one CPU to rows, and their books.
 *
 * It tells how late handler and thread were, not for which instant the timer was programmed. But that instant moves by
 * whole periods only, and each event has a time stamp of its own, some hundred nanoseconds after its reading. So the
 * event that was noted soonest after its reading, among those of the warm-up, gives all instants, too late by that way;
 * the latencies themselves are exact. An instant that nobody was late for was passed over: the thread arms its timer for
 * the next one that is still to come. Activations are numbered, so that those that the trace lost are known too.
 */
#ifndef TAUTO_TIMERLAT_ROWS_H
#define TAUTO_TIMERLAT_ROWS_H

#include "os/timerlat.h"
#include "record/recorder.h"

enum { TIMERLAT_COLUMNS = 3 }; /* scheduled_ns, wake_ns, handler_ns */

struct timerlat_rows {
    struct source *source;
    int64_t period_ns;
    int64_t count; /* releases that are recorded */
    int64_t warmup;
    int64_t thread; /* the kernel's thread, 0 as long as it has told nothing */
    uint64_t lost;  /* samples that the trace lost */

    int64_t origin_ns;   /* the instant of release -warmup; INT64_MIN: not known yet */
    int64_t next;        /* the first release that is in no book yet */
    int64_t handler_late_ns;
    int64_t handled;     /* the release whose handler told it; INT64_MIN: none is waiting for its thread */
    uint32_t activation; /* the last one that is in the books, or waiting */
};

struct timerlat_rows timerlat_rows_from(struct source *source, int64_t period_ns, int64_t count, int64_t warmup);

static inline bool timerlat_rows_complete(const struct timerlat_rows *rows)
{
    return rows->next >= rows->count;
}

/* `rows` is a struct timerlat_rows: an os_timerlat_visitor. */
void timerlat_rows_take(void *rows, const struct os_timerlat_event *event);

/* The end: what was due by `now_ns` and was not served is missed; the released ones and the CPU time are booked. */
void timerlat_rows_close(struct timerlat_rows *rows, int64_t now_ns);

#endif
