/* Out of the program's rings into the recorder's: it never makes the program wait. */
#include "watch.h"

#include "format.h"

#include <inttypes.h>

enum { EARLY_PART = 8, NS_PER_MS = 1000000, LOOK_INTERVAL_NS = 5 * NS_PER_MS, PATIENCE_NS = 1000 * NS_PER_MS };
static const int64_t silence_ns = 60000000000;
static const uint64_t most_missed = UINT64_C(1) << 48;

static uint64_t seen_at(const uint64_t *number)
{
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

/* The release of step k, where the program does not tell it: as many periods behind the first one. */
static int64_t release_of(const struct watched *watched, uint64_t k, int64_t period_ns)
{
    return (int64_t)((uint64_t)watched->origin_ns + (k - watched->origin_k) * (uint64_t)period_ns);
}

/* In the warm-up: which row came earliest, as its number says. The others are late by comparison. What is seen from outside
 * begins with sleeps that are not those of the loop yet: it begins anew in the middle. */
static void set_origin(const struct watch_options *options, struct watched *watched, const struct tautochrone_row *row)
{
    const int64_t at_ns = row->release_ns != 0 ? row->release_ns : row->begin_ns;
    const int64_t period_ns = options->period_ns;
    if (watched->seen == 0 || (options->from_outside && watched->seen == (uint64_t)options->warmup / 2)) {
        watched->origin_k = row->k;
        watched->origin_ns = at_ns;
    }
    const int64_t expected_ns = release_of(watched, row->k, period_ns);
    watched->origin_ns -= at_ns < expected_ns ? expected_ns - at_ns : 0;
}

static void fill_in(const struct watched *watched, const struct tautochrone_row *row, int64_t period_ns, int64_t *slot)
{
    slot[WATCH_K] = (int64_t)row->k;
    slot[WATCH_BEGIN] = row->begin_ns;
    slot[WATCH_END] = row->end_ns;
    slot[WATCH_PREVIOUS] = watched->previous_ns;
    if (period_ns > 0) {
        slot[WATCH_SCHEDULED] = row->release_ns != 0 ? row->release_ns : release_of(watched, row->k, period_ns);
    }
}

/* A sleep has no number: that of its step follows from its release, or else from when it began, which is seldom before its
 * release and often late. Steps are never numbered twice. */
static uint64_t number_of(const struct watched *watched, const struct tautochrone_row *row, int64_t period_ns)
{
    const int64_t at_ns = row->release_ns != 0 ? row->release_ns : row->begin_ns;
    const int64_t since_ns = at_ns - watched->origin_ns + period_ns / EARLY_PART;
    const uint64_t k = watched->origin_k + (uint64_t)(since_ns > 0 ? since_ns / period_ns : 0);
    return k > watched->before_k ? k : watched->before_k + 1;
}

static bool numbers_steps(const struct watch_options *options)
{
    return !options->from_outside || options->wish.way == OUTSIDE_PROBES;
}

static bool has_room(struct watch_run *run, const struct watched *watched)
{
    return ring_waiting(&watched->source->ring) < watched->source->ring.capacity || run->recorder.stream.failed || run->is_late;
}

static void record(struct watch_run *run, struct watched *watched, const struct tautochrone_row *row)
{
    struct source *const source = watched->source;
    const int64_t period_ns = run->options->period_ns;
    if (source->counters.completed == 0) {
        watched->first_k = row->k;
    } else if (row->k <= watched->last_k) {
        watched->backwards++;
    }
    if (run->until_ns == 0) {
        run->until_ns = (row->begin_ns > run->from_ns ? row->begin_ns : run->from_ns) + run->options->duration_ns;
    }
    int64_t *const slot = ring_slot(&source->ring);
    if (slot != NULL) {
        fill_in(watched, row, period_ns, slot);
        source->counters.overruns += period_ns > 0 && slot[WATCH_END] - slot[WATCH_SCHEDULED] >= period_ns ? 1 : 0;
        ring_commit(&source->ring);
    }
    source->counters.completed++;
    watched->last_k = row->k;
}

static void take_row(struct watch_run *run, struct watched *watched, const struct tautochrone_row *row)
{
    const struct watch_options *const options = run->options;
    const bool warms_up = watched->seen < (uint64_t)options->warmup;
    struct tautochrone_row numbered = *row;
    if (!numbers_steps(options) && options->period_ns > 0 && watched->seen > 0) {
        numbered.k = number_of(watched, row, options->period_ns);
    }
    row = &numbered;
    watched->before_k = row->k;
    if (warms_up || watched->seen == 0) {
        set_origin(options, watched, row);
    }
    if (warms_up) {
        watched->source->counters.warmup++;
    } else if (run->until_ns != 0 && row->begin_ns >= run->until_ns) {
        watched->is_over = true;
        return;
    } else {
        record(run, watched, row);
    }
    watched->seen++;
    watched->previous_ns = row->begin_ns;
}

/* What was left out counts as missed, but for the rows that found no room. */
static void book_missed(struct watched *watched, uint64_t last_k, uint64_t dropped)
{
    struct counters *const counters = &watched->source->counters;
    if (counters->completed == 0 || last_k < watched->first_k) {
        return;
    }
    const uint64_t span = last_k - watched->first_k + 1;
    const uint64_t done = counters->completed + dropped;
    const bool is_count = span > done && span <= most_missed; /* otherwise k is no number of a release */
    atomic_store_explicit(&counters->missed, is_count ? span - done : 0, memory_order_relaxed);
}

/* False: nothing was there. */
static bool take_rows(struct watch_run *run, struct watched *watched)
{
    struct tautochrone_loop *const loop = watched->loop;
    const struct tautochrone_row *const rows = TAUTOCHRONE_ROWS_OF(loop);
    const uint64_t written = seen_at(&loop->written);
    const uint64_t before = watched->read;
    if (written - before > run->rows) {
        return false; /* the program wrote somewhere else than it meant to: nothing there can be trusted */
    }
    for (; watched->read < written && !watched->is_over && has_room(run, watched); watched->read++) {
        take_row(run, watched, &rows[watched->read & (run->rows - 1)]);
    }
    __atomic_store_n(&loop->read, watched->read, __ATOMIC_RELEASE);
    const uint64_t dropped = seen_at(&loop->dropped);
    if (dropped != watched->dropped_told && !watched->is_over) {
        counter_add(&watched->source->ring.dropped, dropped - watched->dropped_told);
        watched->dropped_told = dropped;
    }
    book_missed(watched, watched->last_k, watched->dropped_told - watched->dropped_before);
    return watched->read != before;
}

/* How long a step has been open; 0: none is. */
static int64_t open_for(struct watched *watched)
{
    const struct tautochrone_loop *const loop = watched->loop;
    const int64_t now_ns = os_now_ns(); /* before: this thread, too, may get no CPU for a while */
    const uint64_t after = seen_at(&loop->written) + seen_at(&loop->dropped);
    const uint64_t k = seen_at(&loop->k);
    const bool is_same = watched->open_since_ns != 0 && k == watched->open_k && after == watched->open_after;
    if (seen_at(&loop->open) == 0) {
        watched->open_since_ns = 0;
    } else if (!is_same) {
        watched->open_since_ns = os_now_ns();
        watched->open_k = k;
        watched->open_after = after;
    }
    return watched->open_since_ns != 0 ? now_ns - watched->open_since_ns : 0;
}

static void tell_hanging(struct watch_run *run, const struct watched *watched)
{
    format_text(run->failure, sizeof run->failure,
                "%s: step %" PRIu64 " of the loop %s did not end within %" PRId64 " ms (--budget), and was ended.", run->name,
                watched->open_k, watched->source->name, run->options->conditions.budget_ns / NS_PER_MS);
}

static enum watch_end look(struct watch_run *run, int64_t last_row_ns)
{
    const int64_t now_ns = os_now_ns();
    bool all_over = true;
    for (uint32_t i = 0; i < run->loop_count; i++) {
        all_over = all_over && run->loops[i].is_over;
        if (numbers_steps(run->options) && run->options->pid == 0 &&
            open_for(&run->loops[i]) > run->options->conditions.budget_ns) {
            tell_hanging(run, &run->loops[i]);
            return WATCH_HANGS;
        }
    }
    if (all_over || (run->until_ns != 0 && now_ns > run->until_ns + PATIENCE_NS)) {
        return WATCH_TIME_IS_UP;
    }
    if (recorder_stopping(&run->recorder)) {
        return WATCH_STOPPED;
    }
    if (now_ns - last_row_ns > silence_ns) {
        format_text(run->failure, sizeof run->failure, "%s: no step ended for %" PRId64 " s.", run->name,
                    silence_ns / NS_PER_MS / 1000);
        return WATCH_SILENT;
    }
    return WATCH_GOES_ON;
}

/* The number of the step that is open. */
static uint64_t open_number(const struct watch_run *run, const struct watched *watched)
{
    return numbers_steps(run->options) ? seen_at(&watched->loop->k) : watched->before_k + 1;
}

/* What comes after the last sleep of a program that ends well is not a step. */
static bool has_lost_one(const struct watch_run *run, const struct watched *watched)
{
    const bool went_by_itself = (run->end == WATCH_ENDED && run->options->pid == 0) || run->end == WATCH_HANGS;
    const bool ended_well = !run->ending.by_signal && run->ending.value == 0;
    return went_by_itself && seen_at(&watched->loop->open) != 0 && (numbers_steps(run->options) || !ended_well);
}

static void finish_loop(struct watch_run *run, struct watched *watched)
{
    struct counters *const counters = &watched->source->counters;
    const uint64_t dropped = watched->dropped_told - watched->dropped_before;
    const bool lost_one = has_lost_one(run, watched);
    if (lost_one && counters->completed == 0 && watched->seen >= (uint64_t)run->options->warmup) {
        atomic_store_explicit(&counters->missed, 1, memory_order_relaxed); /* the first, which no other tells the number of */
    } else {
        book_missed(watched, lost_one ? open_number(run, watched) : watched->last_k, dropped);
    }
    counters->completed += dropped;
    counters->released = counters->completed + atomic_load(&counters->missed);
    counters->cpu_time_ns = INT64_MIN;
    source_finish(watched->source);
}

static bool take_all(struct watch_run *run)
{
    bool some = false;
    for (uint32_t i = 0; i < run->loop_count; i++) {
        some = take_rows(run, &run->loops[i]) || some;
    }
    return some;
}

static void tell_end(struct watch_run *run)
{
    enum { WHERE_BYTES = 128 };
    char where[WHERE_BYTES] = "";
    for (uint32_t i = 0; i < run->loop_count && where[0] == '\0'; i++) {
        const struct watched *const watched = &run->loops[i];
        if (seen_at(&watched->loop->open) != 0) {
            format_text(where, sizeof where, " in step %" PRIu64 " of the loop %s", open_number(run, watched),
                        watched->source->name);
        }
    }
    watch_tell_end(run, where);
}

/* Rows wait that the recorder has no room for yet. */
static bool is_behind(const struct watch_run *run)
{
    bool is = false;
    for (uint32_t i = 0; i < run->loop_count; i++) {
        const struct watched *const watched = &run->loops[i];
        is = is || (!watched->is_over && seen_at(&watched->loop->written) != watched->read);
    }
    return is;
}

void watch_read(void *argument)
{
    struct watch_run *const run = argument;
    int64_t last_row_ns = os_now_ns();
    while (run->end == WATCH_GOES_ON) {
        const bool has_ended = watch_has_ended(run, LOOK_INTERVAL_NS);
        last_row_ns = take_all(run) ? os_now_ns() : last_row_ns;
        run->end = has_ended ? WATCH_ENDED : look(run, last_row_ns);
    }
    watch_put_down(run);
    const int64_t until_ns = os_now_ns() + PATIENCE_NS; /* for the drain to make room */
    while ((take_all(run) && !run->is_left) || (is_behind(run) && os_now_ns() < until_ns)) {
        os_sleep_until(os_now_ns() + NS_PER_MS);
    }
    run->is_late = true;
    (void)take_all(run);
    if (run->end == WATCH_ENDED) {
        tell_end(run);
    }
    if (run->failure[0] != '\0') {
        recorder_fail(&run->recorder, run->failure);
    }
    for (uint32_t i = 0; i < run->loop_count; i++) {
        finish_loop(run, &run->loops[i]);
    }
}
