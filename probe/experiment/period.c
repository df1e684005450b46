/*
 * The error of the period of a periodic task, as koh2013 3.1 measures it: the time from one start of the task to its
 * next start, against the period that was asked for. Releases are absolute (start + k * period), so errors do not add
 * up: a start that is late makes this period too long and the next one too short.
 *
 * `expected_ns` is the previous start + period, `wake_ns` the first reading after the sleep, `scheduled_ns` the release
 * itself. One row of the table for each period, one after the other.
 */
#include "experiment/experiment.h"
#include "experiment/periods.h"
#include "experiment/schedule.h"
#include "experiment/schemas.h"
#include "experiment/stage.h"

#include "message.h"

enum { START_DELAY_NS = 5000000 };

static const struct column columns[] = {
    {"scheduled_ns", "programmed release, start + k * period", NULL},
    {"expected_ns", "the previous start of the task + period", NULL},
    {"wake_ns", "this start: first time stamp after the sleep", NULL},
};
static const struct measure measures[] = {
    {"period_error_ns", "error of the period", 1, 2},
    {"latency_ns", "scheduling latency", 0, 2},
};
const struct schema period_schema = {
    .columns = columns,
    .column_count = 3,
    .measures = measures,
    .measure_count = 2,
    .late_measure = 1, /* the error of a period may come from the start before */
};

struct period_options {
    struct periods periods;
    struct stage_options stage;
};

static void run_periodic(struct stage *stage)
{
    const struct stage_options *const options = stage->set->options;
    const int64_t period_ns = stage->period_ns;
    struct schedule schedule =
        schedule_from(os_now_ns() + START_DELAY_NS + period_ns, period_ns, options->count, options->warmup);
    const struct schedule before =
        schedule_from(schedule.scheduled_ns - period_ns, period_ns, 1, 0); /* the first start, with none before it */
    int64_t previous_ns = schedule_wait(&before, stage->set->recorder);
    while (schedule_goes_on(&schedule, stage->set->recorder)) {
        const int64_t wake_ns = schedule_wait(&schedule, stage->set->recorder);
        if (wake_ns < schedule.scheduled_ns) {
            break;
        }
        const int64_t row[] = {schedule.scheduled_ns, previous_ns + period_ns, wake_ns};
        stage_record(stage, schedule.release, row);
        previous_ns = wake_ns;
        schedule_next(&schedule, stage->source, wake_ns);
    }
    schedule_close(&schedule, stage->source);
}

static void parameters_to_json(struct json *json, const void *given)
{
    const struct period_options *const options = given;
    json_text(json, "periods", options->periods.text);
}

static int measure(const struct period_options *options)
{
    struct stage stages[PERIODS_LIMIT] = {0};
    for (uint32_t i = 0; i < options->periods.count; i++) {
        struct stage *const stage = &stages[i];
        char period[PERIOD_TEXT_BYTES];
        period_to_text(period, options->periods.ns[i]);
        stage->what = "one periodic task";
        stage->period_ns = options->periods.ns[i];
        stage->actors[0] = (struct actor){.role = "task", .cpu = options->stage.near_cpu, .act = run_periodic};
        stage->actor_count = 1;
        stage_name(stage, period, options->stage.near_cpu, options->stage.near_cpu);
    }
    struct stages set = {
        .experiment = "period",
        .schema = &period_schema,
        .options = &options->stage,
        .periodic = true,
        .parameters = parameters_to_json,
        .given = options,
        .stages = stages,
        .count = options->periods.count,
    };
    return stages_measure(&set);
}

static void warn_if_throttled(const struct period_options *options)
{
    bool slack = true;
    for (uint32_t i = 0; i < options->periods.count; i++) {
        slack &= options->periods.ns[i] > PERIOD_WITHOUT_SLACK_NS;
    }
    if (!slack && options->stage.policy != OS_POLICY_OTHER) {
        conditions_warn_of_throttling();
    }
}

int experiment_period(int argc, char **argv)
{
    struct period_options options = {.periods = {.text = "10ms,30ms,50ms"}, .stage = stage_options_default(50, 1)};
    options.stage.place = PLACE_SAME;
    struct option table[] = {
        {"periods", OPTION_TEXT, &options.periods.text, NULL, "one row for each [10ms,30ms,50ms]", false},
        BLAME_OPTIONS(&options.stage.conditions.recording),
        ONE_CPU_STAGE_OPTIONS(&options.stage),
    };
    int code = EXIT_MEASURED;
    if (!stage_options_read(&options.stage, table, sizeof table / sizeof table[0], argc, argv,
                            "usage: tauto-probe period [options]\n\nError of the period: from one start of a periodic "
                            "task to its next, against the period (koh2013).\n\n",
                            1, &code)) {
        return code;
    }
    if (!periods_read(&options.periods, OS_SHORTEST_PERIOD_NS, "10us")) {
        return EXIT_USAGE;
    }
    warn_if_throttled(&options);
    code = conditions_prepare(&options.stage.conditions);
    return code == EXIT_MEASURED ? measure(&options) : code;
}
