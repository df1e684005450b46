/*
 * Interrupt latency and preemption latency of a periodic task, as laurich2004 (sections 5 to 8) measures them. The task
 * sleeps until an absolute release. `scheduled_ns` is the instant for which its timer was programmed, `handler_ns` the
 * first reading of the clock in the handler of that timer (t1 of the paper), `wake_ns` the first in the task (t2).
 *
 * Where handler_ns comes from is in os/timer_trace.h. The task itself reads it, from memory and after wake_ns was
 * taken: nothing is woken for it, and no row waits for its completion. A row without it is dropped and counted.
 */
#include "experiment/experiment.h"
#include "experiment/interrupt_handler.h"
#include "experiment/schedule.h"
#include "experiment/stage.h"

#include "message.h"

enum { START_DELAY_NS = 5000000, USUAL_RATE = 100, USUAL_WARMUP = 10 };
static const int64_t ns_per_s = 1000000000;
static const int64_t usual_duration_ns = 10000000000;
static const int64_t shortest_period_ns = 1000;
static const int64_t longest_period_ns = 3600000000000;

static const struct column columns[] = {
    {"scheduled_ns", "instant for which the timer was programmed, start + k * period", NULL},
    {"wake_ns", "first time stamp taken by the woken task", NULL},
    {"handler_ns", "first reading of the clock in the timer's handler", NULL},
};
static const struct measure measures[] = {
    {"preemption_latency_ns", "preemption latency (t2)", 0, 1},
    {"interrupt_latency_ns", "interrupt latency (t1)", 0, 2},
    {"switch_ns", "context switch (t2 - t1)", 2, 1},
};
static const struct schema whole_schema = {
    .columns = columns, .column_count = 3, .measures = measures, .measure_count = 3};
static const struct schema schema_without_handler = {
    .columns = columns, .column_count = 2, .measures = measures, .measure_count = 1};

struct interrupt_options {
    int64_t period_ns;
    int64_t rate_hz;
    int64_t duration_ns;
    bool without_handler;
    struct stage_options stage;
};

struct task {
    const struct interrupt_options *options;
    struct os_timer_trace *trace; /* NULL: without handler */
    uint64_t unseen;
    int64_t unseen_worst_ns; /* preemption latency of those */
};

static void drop_unseen(struct task *task, struct source *source, int64_t latency_ns)
{
    _Atomic uint64_t *const dropped = &source->ring.dropped;
    atomic_store_explicit(dropped, atomic_load_explicit(dropped, memory_order_relaxed) + 1, memory_order_relaxed);
    source->counters.completed++;
    task->unseen++;
    task->unseen_worst_ns = latency_ns > task->unseen_worst_ns ? latency_ns : task->unseen_worst_ns;
}

/* Sleeps until the next release. Returns as schedule_wait. */
static int64_t wait_for_timer(const struct task *task, const struct schedule *schedule, const struct recorder *recorder)
{
    if (task->trace != NULL) {
        os_timer_trace_expect(task->trace, schedule->scheduled_ns);
    }
    return schedule_wait(schedule, recorder);
}

static void run_task(struct stage *stage)
{
    struct task *const task = stage->context;
    const struct stage_options *const options = &task->options->stage;
    const struct recorder *const recorder = stage->set->recorder;
    struct schedule schedule =
        schedule_from(os_now_ns() + START_DELAY_NS, stage->period_ns, options->count, options->warmup);
    while (schedule_goes_on(&schedule, recorder)) {
        const int64_t wake_ns = wait_for_timer(task, &schedule, recorder);
        if (wake_ns < schedule.scheduled_ns) {
            break; /* stopped before this release came: it does not count */
        }
        const int64_t handler_ns = task->trace != NULL ? os_timer_trace_handler_ns(task->trace) : wake_ns;
        if (handler_ns == INT64_MIN && schedule.release >= 0) {
            drop_unseen(task, stage->source, wake_ns - schedule.scheduled_ns);
        } else {
            const int64_t row[] = {schedule.scheduled_ns, wake_ns, handler_ns};
            stage_record(stage, schedule.release, row);
        }
        schedule_next(&schedule, stage->source, wake_ns);
    }
    schedule_close(&schedule, stage->source);
}

static bool refuse_usage(const char *what)
{
    refuse(EXIT_USAGE, "%s", what);
    return false;
}

static bool choose_period(struct interrupt_options *options, bool rate_given, bool period_given)
{
    if (rate_given && period_given) {
        return refuse_usage("--rate and --period contradict each other. Give one of them.");
    }
    if (!period_given) {
        if (options->rate_hz < 1) {
            return refuse_usage("--rate takes 1 Hz and more. For less, give --period.");
        }
        options->period_ns = (ns_per_s + options->rate_hz / 2) / options->rate_hz;
    }
    if (options->period_ns < shortest_period_ns || options->period_ns > longest_period_ns) {
        return refuse_usage("the period must lie between 1us and 1h.");
    }
    return true;
}

static bool choose_count(struct interrupt_options *options, bool count_given, bool duration_given)
{
    if (count_given && duration_given) {
        return refuse_usage("--count and --duration contradict each other. Give one of them.");
    }
    if (!count_given) {
        options->stage.count = options->duration_ns / options->period_ns;
    }
    if (options->stage.count < 1) {
        return refuse_usage("nothing to measure: the duration is shorter than one period. Lengthen --duration.");
    }
    return true;
}

static bool read_options(struct interrupt_options *options, int argc, char **argv, int *code)
{
    *options = (struct interrupt_options){
        .rate_hz = USUAL_RATE,
        .duration_ns = usual_duration_ns,
        .stage = stage_options_default(usual_duration_ns / ns_per_s * USUAL_RATE, USUAL_WARMUP),
    };
    options->stage.place = PLACE_SAME;
    struct option table[] = {
        {"rate", OPTION_COUNT, &options->rate_hz, NULL, "releases in a second", false},
        {"period", OPTION_DURATION, &options->period_ns, NULL, "between two releases, instead of a rate [10ms]", false},
        {"duration", OPTION_DURATION, &options->duration_ns, NULL, "of the recorded part, instead of a count [10s]",
         false},
        {"without-handler", OPTION_FLAG, &options->without_handler, NULL, "measure the preemption latency alone", false},
        ONE_CPU_STAGE_OPTIONS(&options->stage),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!stage_options_read(&options->stage, table, count, argc, argv,
                            "usage: tauto-probe interrupt [options]\n\nInterrupt latency and preemption latency: from "
                            "the expiry of a timer to the first time stamp\nin its handler, and to the first in the "
                            "task that waits for it (laurich2004).\n\n",
                            1, code)) {
        return false;
    }
    *code = EXIT_USAGE;
    return choose_period(options, options_given(table, count, "rate"), options_given(table, count, "period")) &&
           choose_count(options, options_given(table, count, "count"), options_given(table, count, "duration"));
}

static void parameters_to_json(struct json *json, const void *given)
{
    const struct task *const task = given;
    json_integer(json, "period_ns", task->options->period_ns);
    if (task->trace == NULL) {
        json_null(json, "handler");
        return;
    }
    json_text(json, "handler", "timer:hrtimer_expire_entry");
}

static int measure(struct task *task)
{
    const struct interrupt_options *const options = task->options;
    struct stage stage = {
        .what = "one periodic task",
        .period_ns = options->period_ns,
        .actors = {{.role = "task", .cpu = options->stage.near_cpu, .act = run_task}},
        .actor_count = 1,
        .context = task,
    };
    stage_name(&stage, "task", options->stage.near_cpu, options->stage.near_cpu);
    struct stages set = {
        .experiment = "interrupt",
        .schema = task->trace != NULL ? &whole_schema : &schema_without_handler,
        .options = &options->stage,
        .periodic = true,
        .parameters = parameters_to_json,
        .given = task,
        .stages = &stage,
        .count = 1,
    };
    if (task->trace == NULL) {
        stages_lack(&set, "interrupt latency (t1)", "left out by --without-handler");
        stages_lack(&set, "context switch (t2 - t1)", "left out by --without-handler");
    }
    return stages_measure(&set);
}

int experiment_interrupt(int argc, char **argv)
{
    struct interrupt_options options;
    int code = EXIT_MEASURED;
    if (!read_options(&options, argc, argv, &code)) {
        return code;
    }
    code = conditions_prepare(&options.stage.conditions);
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct task task = {.options = &options};
    if (!options.without_handler) {
        code = handler_trace_open(&task.trace, &options.stage);
    }
    if (code == EXIT_MEASURED) {
        code = measure(&task);
        handler_tell_unseen(task.unseen, task.unseen_worst_ns);
    }
    os_timer_trace_close(task.trace);
    return code;
}
