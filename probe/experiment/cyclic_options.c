#include "experiment/cyclic_options.h"

#include "experiment/hybrid.h"
#include "experiment/priority.h"
#include "experiment/schedule.h"
#include "message.h"

#include <inttypes.h>
#include <string.h>

enum { NS_PER_MS = 1000000 };
static const int64_t ns_per_s = 1000000000;

static const char *const policies[] = {"other", "fifo", "rr", "deadline", NULL}; /* as enum os_policy */
static const char *const waits[] = {"sleep", "spin", "hybrid", "timer", NULL};

static bool choose_length(struct cyclic_options *options, int64_t duration_ns, int64_t warmup_ns, bool count_given,
                          bool duration_given)
{
    if (options->period_ns <= 0) {
        refuse(EXIT_USAGE, "--period must be more than 0.");
        return false;
    }
    if (options->period_ns < OS_SHORTEST_PERIOD_NS && options->wait != WAIT_SPIN && !options->overload) {
        refuse(EXIT_USAGE, "--period must be 10us or more: to sleep and wake takes nearly as long, so the thread would hold "
                           "its CPU.\n--wait spin goes lower; --overload measures it all the same.");
        return false;
    }
    if (count_given && duration_given) {
        refuse(EXIT_USAGE, "--count and --duration contradict each other.\nGive one of them.");
        return false;
    }
    if (!count_given) {
        options->count = duration_ns / options->period_ns;
    }
    if (options->count == 0) {
        refuse(EXIT_USAGE, "nothing to measure: %s.\nLengthen --duration or raise --count.",
               count_given ? "--count is 0" : "the duration is shorter than one period");
        return false;
    }
    options->warmup = warmup_ns / options->period_ns;
    if (warmup_ns > 0 && options->warmup == 0) {
        options->warmup = 1; /* the first release finds everything cold */
    }
    if (options->wait == WAIT_HYBRID && options->warmup < HYBRID_FEWEST_WAKE_UPS) {
        refuse(EXIT_USAGE, "--wait hybrid learns from the wake-ups of the warm-up, and wants %d of them at least.\n"
                           "Lengthen --warmup.",
               HYBRID_FEWEST_WAKE_UPS);
        return false;
    }
    const int64_t most = INT64_MAX / 4 / options->period_ns;
    if (options->count > most || options->warmup > most || options->stagger_ns > INT64_MAX / 4 / CPU_LIST_LIMIT) {
        refuse(EXIT_USAGE, "the run would end after the clock does.\n"
                           "Shorten --count, --duration, --warmup or --stagger.");
        return false;
    }
    return true;
}

static bool polls(const struct cyclic_options *options)
{
    return options->wait == WAIT_SPIN || options->wait == WAIT_HYBRID;
}

static bool check_deadline_policy(struct cyclic_options *options, bool cpus_given, bool runtime_given)
{
    if (options->policy != OS_POLICY_DEADLINE) {
        if (runtime_given) {
            refuse(EXIT_USAGE, "--runtime belongs to --policy deadline only.");
        }
        return !runtime_given;
    }
    if (cpus_given && strcmp(options->cpus_text, "any") != 0) {
        refuse(EXIT_USAGE, "--policy deadline contradicts --cpus: a deadline thread may run on every CPU of its set.\n"
                           "Use --cpus any, inside a cpuset of its own to keep it on one CPU.");
        return false;
    }
    if (polls(options)) {
        refuse(EXIT_USAGE, "--policy deadline contradicts --wait %s: its budget ends every spin.\nUse one of them.",
               waits[options->wait]);
        return false;
    }
    options->cpus_text = "any";
    options->runtime_ns = runtime_given ? options->runtime_ns : options->period_ns / 5;
    if (options->runtime_ns <= 0 || options->runtime_ns > options->period_ns) {
        refuse(EXIT_USAGE, "--runtime must lie between 1 ns and the period (Linux wants 1024 ns or more).");
        return false;
    }
    return true;
}

bool cyclic_options_read(struct cyclic_options *options, int argc, char **argv, int *code)
{
    int64_t duration_ns = 10 * ns_per_s;
    int64_t warmup_ns = 100LL * NS_PER_MS;
    *options = (struct cyclic_options){
        .period_ns = NS_PER_MS,
        .policy = os_usual_policy(),
        .conditions = conditions_default(),
        .cpus_text = "all",
    };
    struct option table[] = {
        {"cpus", OPTION_TEXT, &options->cpus_text, NULL, "0,2-3, all or any: one thread for each [all]", false},
        {"period", OPTION_PERIOD, &options->period_ns, NULL, "between two releases [1ms]", false},
        {"duration", OPTION_DURATION, &duration_ns, NULL, "of the recorded part [10s]", false},
        {"count", OPTION_COUNT, &options->count, NULL, "releases per thread, instead of a duration", false},
        {"warmup", OPTION_DURATION, &warmup_ns, NULL, "before that, not recorded [100ms]", false},
        {"stagger", OPTION_DURATION, &options->stagger_ns, NULL, "start each thread this much later [0s]", false},
        {"policy", OPTION_CHOICE, &options->policy, policies, "[fifo]", false},
        {"priority", OPTION_COUNT, &options->priority, NULL, "the system's own number [90 on Linux]", false},
        {"runtime", OPTION_DURATION, &options->runtime_ns, NULL, "budget, policy deadline only [period/5]", false},
        {"overrun", OPTION_CHOICE, &options->overrun, overrun_words, "what becomes of missed releases [skip]", false},
        {"overload", OPTION_FLAG, &options->overload, NULL, "sleep also with a period below 10us", false},
        {"wait", OPTION_CHOICE, &options->wait, waits, "sleep, poll the clock, both, or a timer [sleep]", false},
        BLAME_OPTIONS(&options->conditions.recording),
        CONDITION_OPTIONS(&options->conditions),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!options_read_or_help(table, count, argc, argv,
                              "usage: tauto-probe cyclic [options]\n\nScheduling latency: from each programmed release "
                              "to the first time stamp of the woken thread.\n\n",
                              code)) {
        return false;
    }
    if (!choose_length(options, duration_ns, warmup_ns, options_given("count"),
                       options_given("duration")) ||
        !priority_choose((enum os_policy)options->policy, options_given("priority"), 1,
                         &options->priority, &options->below_highest) ||
        !check_deadline_policy(options, options_given("cpus"), options_given("runtime"))) {
        return false;
    }
    if (options->overrun == OVERRUN_REPLAY && polls(options)) {
        refuse(EXIT_USAGE, "--overrun replay contradicts --wait %s: the rests that a spinning thread must take would "
                           "be replayed as lateness.\nUse skip or stop.",
               waits[options->wait]);
        return false;
    }
    if (!conditions_check(&options->conditions)) {
        return false;
    }
    *code = cpu_list_read(&options->cpus, options->cpus_text);
    return *code == EXIT_MEASURED;
}

int cyclic_options_check_clock(const struct cyclic_options *options, const struct clock_calibration *clock)
{
    const int64_t finest_ns =
        clock->reported_resolution_ns > clock->step_ns ? clock->reported_resolution_ns : clock->step_ns;
    if (options->period_ns < finest_ns || options->period_ns < clock->cost_ns) {
        return refuse(EXIT_USAGE,
                      "--period %lld ns is below what the clock resolves here: it reports %lld ns, steps by %lld ns and "
                      "takes %lld ns to read.\nLengthen the period.",
                      (long long)options->period_ns, (long long)clock->reported_resolution_ns,
                      (long long)clock->step_ns, (long long)clock->cost_ns);
    }
    return EXIT_MEASURED;
}

void cyclic_options_to_json(struct json *json, const struct cyclic_options *options, int64_t ring_rows)
{
    json_open_object(json, "parameters");
    json_text(json, "cpus", options->cpus_text);
    json_integer(json, "period_ns", options->period_ns);
    json_integer(json, "count", options->count);
    json_integer(json, "warmup", options->warmup);
    json_integer(json, "stagger_ns", options->stagger_ns);
    json_text(json, "policy", policies[options->policy]);
    if (os_priority_levels((enum os_policy)options->policy) != 0) {
        json_integer(json, "priority", options->priority);
    } else {
        json_null(json, "priority");
    }
    if (options->policy == OS_POLICY_DEADLINE) {
        json_integer(json, "runtime_ns", options->runtime_ns);
    }
    json_text(json, "overrun", overrun_words[options->overrun]);
    json_text(json, "wait", waits[options->wait]);
    json_boolean(json, "overload", options->overload);
    json_integer(json, "budget_ns", options->conditions.budget_ns);
    recording_to_json(json, &options->conditions.recording, ring_rows);
    json_close_object(json);
    json_open_object(json, "schedule");
    json_integer(json, "period_ns", options->period_ns);
    json_close_object(json);
}
