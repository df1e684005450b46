/*
 * Periodic real-time tasks less urgent than what is measured, as koh2013 4.2 has them: ten tasks with a period of
 * 0.1 ms that do arithmetic in each period. All are released at the same instants. Each works for a fixed time by the
 * clock; waking up costs time of its own, so each also looks at the CPU time that it used, and rests when all of them
 * together would take more of a CPU than is good for the machine.
 */
#include "load/load.h"

#include <inttypes.h>

enum { MOST_TASKS = 1000, STEPS_PER_LOOK = 64, PERIODS_PER_LOOK = 64 };
/* Of a CPU: what may be asked for, and what may really be used, waking up included. */
enum { MOST_SHARE_PERCENT = 90, REST_ABOVE_PERCENT = 75 };
static const int64_t longest_period_ns = 1000000000;

struct settings {
    int64_t tasks; /* in all, spread over the CPUs */
    int64_t period_ns;
    int64_t work_ns; /* of each task in each period */
};

static size_t options(void *settings, struct option *table)
{
    struct settings *const own = settings;
    *own = (struct settings){.tasks = 10, .period_ns = 100000, .work_ns = 4000};
    table[0] = (struct option){"tasks", OPTION_COUNT, &own->tasks, NULL, "how many in all [10]", false};
    table[1] = (struct option){"period", OPTION_PERIOD, &own->period_ns, NULL, "of each task [100us]", false};
    table[2] = (struct option){"work", OPTION_DURATION, &own->work_ns, NULL, "of each task in each period [4us]", false};
    return 3;
}

static double some_arithmetic(double value)
{
    for (int step = 0; step < STEPS_PER_LOOK; step++) {
        value = value * 1.0000001 + 1.0 / (value + 2.0);
    }
    return value > 1e6 ? 1.0 : value;
}

/* Tasks on the CPU that has most of them. */
static int64_t most_on_one_cpu(const struct load_run *run)
{
    const struct settings *const settings = run->settings;
    const int64_t cpus = run->cpus.count;
    return (settings->tasks + cpus - 1) / cpus;
}

static double work_for(int64_t work_ns, double value)
{
    const int64_t begin_ns = os_now_ns();
    while (os_now_ns() - begin_ns < work_ns) {
        value = some_arithmetic(value);
    }
    return value;
}

/* How long the task must sleep now, so that it has had no more than its share since it began. */
static int64_t rest_due_ns(const struct load_run *run, int64_t elapsed_ns, int64_t used_ns)
{
    return used_ns * 100 / REST_ABOVE_PERCENT * most_on_one_cpu(run) - elapsed_ns;
}

static void work(struct load_thread *thread)
{
    const struct settings *const settings = thread->run->settings;
    const int64_t start_ns = thread->until_ns - thread->run->duration_ns;
    const int64_t begin_ns = os_now_ns();
    const int64_t used_before_ns = os_thread_cpu_time_ns();
    volatile double kept = 1.0; /* the result counts, so the work may not be left out */
    uint64_t periods = 0;
    while (!load_must_end(thread)) {
        /* Releases that have passed are left out, so that the task always sleeps. */
        const int64_t passed = (os_now_ns() - start_ns) / settings->period_ns;
        os_sleep_until(start_ns + (passed + 1) * settings->period_ns);
        kept = work_for(settings->work_ns, kept);
        load_did(thread, 1, 0);
        if (++periods % PERIODS_PER_LOOK == 0) {
            const int64_t now_ns = os_now_ns();
            const int64_t used_ns = os_thread_cpu_time_ns() - used_before_ns;
            const int64_t rest_ns = rest_due_ns(thread->run, now_ns - begin_ns, used_ns);
            if (rest_ns > 0) {
                os_sleep_until(now_ns + rest_ns);
            }
        }
    }
}

static int prepare(struct load_run *run)
{
    const struct settings *const settings = run->settings;
    if (settings->tasks < 1 || settings->tasks > MOST_TASKS) {
        return refuse(EXIT_USAGE, "--tasks must lie between 1 and %d.", MOST_TASKS);
    }
    if (settings->period_ns < OS_SHORTEST_PERIOD_NS || settings->period_ns > longest_period_ns) {
        return refuse(EXIT_USAGE, "--period of the load must lie between 10us and 1s.");
    }
    if (settings->work_ns < 1 || settings->work_ns > settings->period_ns) {
        return refuse(EXIT_USAGE, "--work must lie between 1ns and the period.");
    }
    const int64_t tasks = most_on_one_cpu(run);
    const int64_t percent = (tasks * settings->work_ns * 100 + settings->period_ns - 1) / settings->period_ns;
    if (percent > MOST_SHARE_PERCENT) {
        return refuse(EXIT_USAGE, "%" PRId64 " tasks on a CPU would take %" PRId64 " %% of it, and at most %d %% leave "
                                  "time for everything else.\nTake fewer --tasks, less --work or a longer --period.",
                      tasks, percent, MOST_SHARE_PERCENT);
    }
    run->threads = (uint32_t)settings->tasks;
    return EXIT_MEASURED;
}

const struct load load_tasks = {
    .name = "tasks",
    .summary = "periodic real-time tasks of lower priority, spread over the chosen CPUs",
    .unit = "periods with arithmetic",
    .usual_policy = OS_POLICY_FIFO,
    .may_be_real_time = true,
    .settings_bytes = sizeof(struct settings),
    .options = options,
    .prepare = prepare,
    .work = work,
};
