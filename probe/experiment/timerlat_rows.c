#include "experiment/timerlat_rows.h"

struct timerlat_rows timerlat_rows_from(struct source *source, int64_t period_ns, int64_t count, int64_t warmup)
{
    return (struct timerlat_rows){
        .source = source,
        .period_ns = period_ns,
        .count = count,
        .warmup = warmup,
        .origin_ns = INT64_MIN,
        .next = -warmup,
        .handled = INT64_MIN,
    };
}

static int64_t at_least_0(int64_t value)
{
    return value > 0 ? value : 0;
}

static int64_t recorded_between(const struct timerlat_rows *rows, int64_t from, int64_t to)
{
    const int64_t end = to < rows->count ? to : rows->count;
    return at_least_0(end - at_least_0(from));
}

static void drop(struct timerlat_rows *rows, uint64_t samples)
{
    struct source *const source = rows->source;
    counter_add(&source->ring.dropped, samples);
    source->counters.completed += samples;
    rows->lost += samples;
}

/* Everything before `release` goes into the books: as many as were activated and lost, the others were passed over. */
static void pass_over(struct timerlat_rows *rows, int64_t release, uint64_t activated)
{
    const uint64_t between = (uint64_t)recorded_between(rows, rows->next, release);
    const uint64_t lost = activated < between ? activated : between;
    if (lost != 0) {
        drop(rows, lost);
    }
    if (between != lost) {
        counter_add(&rows->source->counters.missed, between - lost);
    }
    rows->next = release > rows->next ? release : rows->next;
}

/* Which release it was. The origin is refined as long as the warm-up lasts. */
static int64_t release_of(struct timerlat_rows *rows, const struct os_timerlat_event *event)
{
    const int64_t instant_ns = event->noted_ns - event->latency_ns;
    if (rows->origin_ns == INT64_MIN) {
        rows->origin_ns = instant_ns;
        return -rows->warmup;
    }
    const int64_t since_ns = instant_ns - rows->origin_ns + rows->period_ns / 2;
    const int64_t periods = since_ns >= 0 ? since_ns / rows->period_ns : 0;
    const int64_t origin_ns = instant_ns - periods * rows->period_ns;
    if (rows->next < 0 && origin_ns < rows->origin_ns) {
        rows->origin_ns = origin_ns;
    }
    return periods - rows->warmup;
}

static void record(struct timerlat_rows *rows, int64_t thread_late_ns)
{
    struct source *const source = rows->source;
    const int64_t release = rows->handled;
    rows->handled = INT64_MIN;
    rows->next = release + 1;
    if (release < 0) {
        source->counters.warmup++;
        return;
    }
    const int64_t scheduled_ns = rows->origin_ns + (release + rows->warmup) * rows->period_ns;
    int64_t *const row = ring_slot(&source->ring);
    if (row != NULL) {
        row[0] = scheduled_ns;
        row[1] = scheduled_ns + thread_late_ns;
        row[2] = scheduled_ns + rows->handler_late_ns;
        ring_commit(&source->ring);
    }
    source->counters.completed++;
    source->counters.overruns += thread_late_ns >= rows->period_ns ? 1 : 0;
}

void timerlat_rows_take(void *given, const struct os_timerlat_event *event)
{
    struct timerlat_rows *const rows = given;
    if (event->by_thread) {
        rows->thread = event->thread;
    }
    if (timerlat_rows_complete(rows)) {
        return;
    }
    const bool same = rows->activation != 0 && event->activation == rows->activation;
    if (same && event->by_thread && rows->handled != INT64_MIN) {
        record(rows, event->latency_ns);
        return;
    }
    if (same) {
        return; /* the thread was woken by somebody else, and told its last latency once more */
    }
    const bool first = rows->origin_ns == INT64_MIN;
    if (first && event->by_thread) {
        return; /* its handler told it before we listened */
    }
    const int64_t release = release_of(rows, event);
    /* Between the last activation that is known and this one; the last one's own thread may have been lost too. */
    const uint64_t unseen = (first ? 0 : (uint64_t)(event->activation - rows->activation) - 1) +
                            (rows->handled != INT64_MIN ? 1 : 0);
    pass_over(rows, release, unseen);
    rows->activation = event->activation;
    if (event->by_thread) { /* its handler was lost */
        rows->handled = INT64_MIN;
        pass_over(rows, release + 1, 1);
    } else if (release < rows->count) {
        rows->handled = release;
        rows->handler_late_ns = event->latency_ns;
    }
}

void timerlat_rows_close(struct timerlat_rows *rows, int64_t now_ns)
{
    if (rows->origin_ns != INT64_MIN && !timerlat_rows_complete(rows)) {
        const int64_t periods = (now_ns - rows->origin_ns) / rows->period_ns;
        pass_over(rows, periods + 1 - rows->warmup, 0);
    }
    rows->source->counters.released = (uint64_t)recorded_between(rows, 0, rows->next);
    rows->source->counters.cpu_time_ns = os_timerlat_thread_cpu_time_ns(rows->thread);
}
