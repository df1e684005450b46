/*
 * Interrupt latency and preemption latency of a periodic task, as laurich2004 (sections 5 to 8) measures them. The task
 * sleeps until an absolute release. `scheduled_ns` is the instant for which its timer was programmed, `handler_ns` the
 * first reading of the clock in the handler of that timer (t1 of the paper), `wake_ns` the first in the task (t2).
 *
 * Where handler_ns comes from is in os/timer_trace.h. The task itself reads it, from memory and after wake_ns was
 * taken: nothing is woken for it, and no row waits for its completion. A row without it is kept and counted.
 */
#include "experiment/experiment.h"
#include "experiment/interrupt_handler.h"
#include "experiment/rhythm.h"
#include "experiment/schedule.h"
#include "experiment/schemas.h"
#include "experiment/stage.h"

#include "message.h"

enum { START_DELAY_NS = 5000000 };
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
const struct schema interrupt_schema = {
    .columns = columns, .column_count = 3, .measures = measures, .measure_count = 3, .may_lack = 1U << 2};
static const struct schema schema_without_handler = {
    .columns = columns, .column_count = 2, .measures = measures, .measure_count = 1};

struct interrupt_options {
    struct rhythm rhythm;
    bool without_handler;
    struct stage_options stage;
};

struct task {
    const struct interrupt_options *options;
    struct os_timer_trace *trace; /* NULL: without handler */
    enum os_timer_trace_way way;
    uint64_t unseen;
    int64_t unseen_worst_ns; /* preemption latency of those */
};

static void count_unseen(struct task *task, int64_t latency_ns)
{
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
            count_unseen(task, wake_ns - schedule.scheduled_ns);
        }
        const int64_t row[] = {schedule.scheduled_ns, wake_ns, handler_ns};
        stage_record(stage, schedule.release, row);
        schedule_next(&schedule, stage->source, wake_ns);
    }
    schedule_close(&schedule, stage->source);
}

static bool read_options(struct interrupt_options *options, int argc, char **argv, int *code)
{
    *options = (struct interrupt_options){
        .rhythm = rhythm_default(),
        .stage = stage_options_default(RHYTHM_USUAL_COUNT, RHYTHM_USUAL_WARMUP),
    };
    options->stage.place = PLACE_SAME;
    struct option table[] = {
        RHYTHM_OPTIONS(&options->rhythm),
        {"without-handler", OPTION_FLAG, &options->without_handler, NULL, "measure the preemption latency alone", false},
        BLAME_OPTIONS(&options->stage.conditions.recording),
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
    return rhythm_choose_period(&options->rhythm, OS_SHORTEST_PERIOD_NS, longest_period_ns, "10us and 1h") &&
           rhythm_choose_count(&options->rhythm, &options->stage.count);
}

static void parameters_to_json(struct json *json, const void *given)
{
    const struct task *const task = given;
    json_integer(json, "period_ns", task->options->rhythm.period_ns);
    if (task->trace == NULL) {
        json_null(json, "handler");
        return;
    }
    json_text(json, "handler", "timer:hrtimer_expire_entry");
    json_text(json, "handler_by", os_timer_trace_name(task->way));
}

static void unseen_to_json(struct json *json, uint32_t source, const void *given)
{
    (void)source; /* there is one */
    const struct task *const task = given;
    if (task->trace != NULL) {
        json_unsigned(json, "unseen", task->unseen);
    }
}

static int measure(struct task *task)
{
    const struct interrupt_options *const options = task->options;
    struct stage stage = {
        .what = "one periodic task",
        .period_ns = options->rhythm.period_ns,
        .actors = {{.role = "task", .cpu = options->stage.near_cpu, .act = run_task}},
        .actor_count = 1,
        .context = task,
    };
    stage_name(&stage, "task", options->stage.near_cpu, options->stage.near_cpu);
    struct stages set = {
        .experiment = "interrupt",
        .schema = task->trace != NULL ? &interrupt_schema : &schema_without_handler,
        .options = &options->stage,
        .periodic = true,
        .parameters = parameters_to_json,
        .given = task,
        .own_books = unseen_to_json,
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
        code = handler_trace_open(&task.trace, &task.way, &options.stage);
    }
    if (code == EXIT_MEASURED) {
        code = measure(&task);
        handler_tell_unseen(task.unseen, task.unseen_worst_ns);
    }
    os_timer_trace_close(task.trace);
    return code;
}
