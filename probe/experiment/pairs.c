#include "experiment/pairs.h"

#include "message.h"

#include <inttypes.h>

enum { REST_NS = 1000000, VOIDS_ALLOWED = 20 };

static const struct column columns[] = {
    {"before_ns", "last reading before the call that lets the other thread run", NULL},
    {"after_ns", "first reading when it runs", NULL},
    {"attempts", "tries that this sample took: those before it were no meeting", "1"},
};
static const struct measure duration = {"duration_ns", "time from before to after", 0, 1};
const struct schema pair_schema = {
    .columns = columns,
    .column_count = PAIR_COLUMNS,
    .measures = &duration,
    .measure_count = 1,
};

enum os_status pair_create(struct pair *pair, bool apart)
{
    *pair = (struct pair){.apart = apart, .before_ns = INT64_MIN};
    const enum os_status status = os_semaphore_create(&pair->turn, 0);
    return status == OS_OK ? os_semaphore_create(&pair->taken, 0) : status;
}

void pair_destroy(struct pair *pair)
{
    os_semaphore_destroy(pair->turn);
    os_semaphore_destroy(pair->taken);
}

void pair_begin(struct pair *pair, const struct stage *stage)
{
    pair->samples = -stage->set->options->warmup;
    pair->attempts = 1;
    pair->last_before_ns = INT64_MIN;
}

struct asking pair_ask(struct pair *pair)
{
    os_semaphore_wait(pair->turn);
    struct asking asking = {.cpu_time_ns = pair->apart ? os_thread_cpu_time_ns() : 0};
    asking.asked_ns = os_now_ns();
    return asking;
}

bool pair_take_row(struct pair *pair, struct stage *stage, bool valid, int64_t before_ns, int64_t after_ns)
{
    if (valid) {
        pair->row[0] = before_ns;
        pair->row[1] = after_ns;
        pair->row[2] = (int64_t)pair->attempts;
        stage_record(stage, pair->samples++, pair->row);
        pair->attempts = 1;
    } else {
        pair->voids++;
        pair->gave_up = ++pair->attempts > PAIR_ATTEMPTS_LIMIT;
    }
    const bool goes_on = pair->samples < stage->set->options->count && !pair->gave_up && !stage_stopping(stage);
    if (!goes_on) {
        atomic_store(&pair->over, true);
    }
    return goes_on;
}

bool pair_take(struct pair *pair, struct stage *stage, const struct asking *asking, int64_t after_ns)
{
    const int64_t before_ns = atomic_load_explicit(&pair->before_ns, memory_order_relaxed);
    bool waited = before_ns > asking->asked_ns;
    if (waited && pair->apart) {
        const int64_t used_ns = os_thread_cpu_time_ns() - asking->cpu_time_ns;
        waited = used_ns < (os_now_ns() - asking->asked_ns) / 2;
    }
    return pair_take_row(pair, stage, waited, before_ns, after_ns);
}

void pair_give_turn(struct pair *pair)
{
    os_semaphore_post(pair->turn);
    if (pair->apart) {
        /* Asleep and not polling: a kernel may let a waiter poll for as long as the holder of a mutex runs. */
        os_sleep_until_and_read(os_now_ns() + PAIR_APART_NS);
    }
}

bool pair_wait_taken(struct pair *pair)
{
    os_semaphore_wait(pair->taken);
    return !atomic_load(&pair->over);
}

void pair_rest(int64_t i)
{
    if (i % PAIR_ROUND == PAIR_ROUND - 1) {
        os_sleep_until_and_read(os_now_ns() + REST_NS);
    }
}

/* The reading that `second` left counts once: seeing it again means that the yield came back without a switch. */
void yield_first(struct stage *stage)
{
    struct pair *const pair = stage->context;
    pair_begin(pair, stage);
    os_semaphore_wait(pair->taken); /* `second` is there */
    for (bool goes_on = true; goes_on;) {
        /* What `second` read while `first` rested was no switch between the two. */
        pair->last_before_ns = atomic_load_explicit(&pair->before_ns, memory_order_relaxed);
        os_semaphore_post(pair->turn); /* makes `second` ready; it has no higher priority, so it does not run yet */
        for (int i = 0; i < PAIR_ROUND && goes_on; i++) {
            os_yield();
            const int64_t after_ns = os_now_ns();
            const int64_t before_ns = atomic_load_explicit(&pair->before_ns, memory_order_relaxed);
            goes_on = pair_take_row(pair, stage, before_ns != pair->last_before_ns, before_ns, after_ns);
            pair->last_before_ns = before_ns;
        }
        os_sleep_until_and_read(os_now_ns() + REST_NS);
    }
    os_semaphore_post(pair->turn);
}

void yield_second(struct stage *stage)
{
    struct pair *const pair = stage->context;
    os_semaphore_post(pair->taken);
    for (;;) {
        os_semaphore_wait(pair->turn);
        if (atomic_load(&pair->over)) {
            return;
        }
        for (int i = 0; i < PAIR_ROUND; i++) {
            pair_stamp(pair);
            os_yield();
        }
    }
}

/* The run may still end as `complete`: so the stream itself says that this row did not. */
static void write_given_up(const struct stages *set, uint32_t index, uint64_t samples)
{
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "event", "given-up");
    json_integer(&json, "time_ns", os_now_ns());
    json_integer(&json, "source", index);
    json_unsigned(&json, "samples", samples);
    json_integer(&json, "attempts", PAIR_ATTEMPTS_LIMIT);
    json_close_object(&json);
    stream_write_json(&set->recorder->stream, FRAME_EVENT, &json); /* its failure is told at the end */
    json_free(&json);
}

static void warn_of_pair(const struct pair *pair, const struct stage *stage)
{
    const uint64_t samples = pair->samples > 0 ? (uint64_t)pair->samples : 0;
    if (pair->gave_up) {
        warn("%s: given up after %d attempts in a row in which the threads did not meet: it has %" PRIu64 " samples.",
             stage->name, PAIR_ATTEMPTS_LIMIT, samples);
    } else if (pair->voids > samples / 20 + VOIDS_ALLOWED) {
        warn("%s: in %" PRIu64 " attempts the threads did not meet; they are not among the %" PRIu64 " samples. "
             "Other work on these CPUs can be the reason.",
             stage->name, pair->voids, samples);
    }
}

void pairs_tell(const struct stages *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct pair *const pair = set->stages[i].context;
        warn_of_pair(pair, &set->stages[i]);
        if (pair->gave_up && set->recorder->streaming) {
            write_given_up(set, i, pair->samples > 0 ? (uint64_t)pair->samples : 0);
        }
    }
}
