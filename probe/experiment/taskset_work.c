#include "experiment/taskset_work.h"

enum {
    BATCHES = 31,
    BATCH_US = 1000,
    WARM_UP_US = 10000, /* for a governor to see that the CPU is wanted */
    FIRST_GUESS_STEPS = 20000,
    FASTEST_NS = 100000, /* no CPU is faster; a coarse clock may say so */
    NS_PER_US = 1000,
    NS_PER_MS = 1000000,
    THOUSANDTHS = 1000,
};
static const uint64_t first_state = 0x9e3779b97f4a7c15U;

/* Xorshift (Marsaglia 2003): never 0, and no compiler finds a shorter way. */
uint64_t work_steps(uint64_t state, uint64_t steps)
{
    for (; steps > 0; steps--) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

static int64_t time_steps(volatile uint64_t *state, uint64_t steps)
{
    const int64_t before_ns = os_now_ns();
    *state = work_steps(*state, steps);
    return os_now_ns() - before_ns;
}

/* A few values; the C library's qsort() alone has 2 KB of code. */
static void sort(int64_t *values, int count)
{
    for (int i = 1; i < count; i++) {
        const int64_t value = values[i];
        int at = i;
        for (; at > 0 && values[at - 1] > value; at--) {
            values[at] = values[at - 1];
        }
        values[at] = value;
    }
}

static uint64_t steps_in(int64_t duration_ns, int64_t per_base_ns)
{
    return (uint64_t)(duration_ns * WORK_STEPS_BASE / per_base_ns);
}

static int64_t per_base(int64_t taken_ns, uint64_t steps)
{
    const int64_t base_ns = taken_ns * WORK_STEPS_BASE / (int64_t)steps;
    return base_ns > FASTEST_NS ? base_ns : FASTEST_NS;
}

struct work_cost work_measure_cost(void)
{
    volatile uint64_t state = first_state;
    const int64_t warm_ns = os_now_ns() + (int64_t)WARM_UP_US * NS_PER_US;
    int64_t guess_ns = INT64_MAX;
    do { /* the least: after a disturbed one, batches would be so short that they took what reading the clock takes */
        const int64_t tried_ns = per_base(time_steps(&state, FIRST_GUESS_STEPS), FIRST_GUESS_STEPS);
        guess_ns = tried_ns < guess_ns ? tried_ns : guess_ns;
    } while (os_now_ns() < warm_ns);
    const uint64_t steps = steps_in((int64_t)BATCH_US * NS_PER_US, guess_ns) + 1;
    int64_t taken_ns[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
        taken_ns[i] = per_base(time_steps(&state, steps), steps);
    }
    sort(taken_ns, BATCHES);
    return (struct work_cost){
        .lower_ns = taken_ns[BATCHES / 4],
        .median_ns = taken_ns[BATCHES / 2],
        .upper_ns = taken_ns[BATCHES - 1 - BATCHES / 4],
    };
}

void work_cost_to_json(struct json *json, const char *key, int32_t cpu, const struct work_cost *cost)
{
    json_open_object(json, key);
    if (cpu == OS_CPU_ANY) {
        json_null(json, "cpu");
    } else {
        json_integer(json, "cpu", cpu);
    }
    json_integer(json, "steps", WORK_STEPS_BASE);
    json_integer(json, "lower_quartile_ns", cost->lower_ns);
    json_integer(json, "median_ns", cost->median_ns);
    json_integer(json, "upper_quartile_ns", cost->upper_ns);
    json_close_object(json);
}

int64_t work_cost_spread(const struct work_cost *cost)
{
    return (cost->upper_ns - cost->lower_ns) * THOUSANDTHS / cost->median_ns;
}

int64_t work_cost_change(const struct work_cost *before, const struct work_cost *after)
{
    return (after->median_ns - before->median_ns) * THOUSANDTHS / before->median_ns;
}

struct work work_of(enum work_kind kind, int64_t execution_ns, const struct work_cost *cost)
{
    struct work work = {.kind = kind, .execution_ns = execution_ns, .state = first_state};
    if (kind == WORK_CALIBRATED) {
        work.steps = steps_in(execution_ns, cost->median_ns);
        work.steps_at_once = steps_in(NS_PER_MS, cost->median_ns) + 1;
    }
    return work;
}

static bool do_steps(struct work *work, const struct recorder *recorder)
{
    uint64_t left = work->steps;
    while (left > work->steps_at_once) {
        work->state = work_steps(work->state, work->steps_at_once);
        left -= work->steps_at_once;
        if (recorder_stopping(recorder)) {
            return false;
        }
    }
    work->state = work_steps(work->state, left);
    return true;
}

/* Time in which the task is preempted passes too, so the piece of 1 ms in which that happens is cut short. */
static bool watch_clock(const struct work *work, const struct recorder *recorder)
{
    for (int64_t left_ns = work->execution_ns; left_ns > 0; left_ns -= NS_PER_MS) {
        const int64_t end_ns = os_now_ns() + (left_ns < NS_PER_MS ? left_ns : NS_PER_MS);
        while (os_now_ns() < end_ns) {
        }
        if (left_ns > NS_PER_MS && recorder_stopping(recorder)) {
            return false;
        }
    }
    return true;
}

bool work_do(struct work *work, const struct recorder *recorder)
{
    return work->kind == WORK_CALIBRATED ? do_steps(work, recorder) : watch_clock(work, recorder);
}
