#include "watch.h"

#include "experiment/priority.h"
#include "message.h"

#include <inttypes.h>

enum { USUAL_WARMUP = 100, NS_PER_MS = 1000000 };
static const int64_t ns_per_s = 1000000000;

enum { POLICY_OWN = 3 };
static const char *const policies[] = {"other", "fifo", "rr", "own", NULL}; /* as enum os_policy, but for the last */

static bool refuse_usage(const char *what)
{
    refuse(EXIT_USAGE, "%s", what);
    return false;
}

static bool check(struct watch_options *options)
{
    if (options->program == NULL || options->program[0] == '\0') {
        return refuse_usage("name what to run: --program './controller --gain 3'.\n"
                            "`tauto watch --header c` prints the header that it marks its loop with.");
    }
    if (options_given("period") && options->period_ns < OS_SHORTEST_PERIOD_NS) {
        return refuse_usage("--period must be 10us or more: to sleep and wake takes nearly as long.");
    }
    if (options->duration_ns == 0) {
        return refuse_usage("nothing to measure: --duration is 0.\nLengthen it.");
    }
    if (options->loops < 1 || options->loops > WATCH_LOOPS_LIMIT) {
        refuse(EXIT_USAGE, "--loops %" PRId64 ": a program has 1 to %d loops.", options->loops, WATCH_LOOPS_LIMIT);
        return false;
    }
    if (options->conditions.recording.drain == DRAIN_AT_END) {
        return refuse_usage("--drain at-end: nobody knows how many steps a program makes.\nLeave it out.");
    }
    if (options->policy == POLICY_OWN) {
        options->policy = -1;
        if (options_given("priority")) {
            return refuse_usage("--priority needs a policy: without one, the program sets both itself.\n"
                                "Give --policy fifo, too.");
        }
        return conditions_check(&options->conditions);
    }
    return priority_choose((enum os_policy)options->policy, options_given("priority"), 1, &options->priority,
                           &options->below_highest) &&
           conditions_check(&options->conditions);
}

static int choose_cpu(struct watch_options *options)
{
    static struct cpu_list list;
    const int code = cpu_list_read(&list, options->cpus_text != NULL ? options->cpus_text : "any");
    if (code == EXIT_MEASURED && list.count != 1) {
        return refuse(EXIT_USAGE, "--cpus %s: name one CPU, or any.", options->cpus_text);
    }
    options->cpu = list.cpus[0];
    return code;
}

bool watch_options_read(struct watch_options *options, int argc, char **argv, int *code)
{
    *options = (struct watch_options){
        .duration_ns = 10 * ns_per_s,
        .warmup = USUAL_WARMUP,
        .loops = 1,
        .policy = POLICY_OWN,
        .conditions = conditions_default(),
    };
    struct option table[] = {
        {"program", OPTION_TEXT, &options->program, NULL, "what to run: a command line", false},
        {"period", OPTION_PERIOD, &options->period_ns, NULL, "that the loops are to keep [not known]", false},
        {"duration", OPTION_DURATION, &options->duration_ns, NULL, "of the recorded part [10s]", false},
        {"warmup", OPTION_COUNT, &options->warmup, NULL, "steps of each loop before it, not recorded [100]", false},
        {"loops", OPTION_COUNT, &options->loops, NULL, "loops to wait for [1]", false},
        {"cpus", OPTION_TEXT, &options->cpus_text, NULL, "the CPU that it runs on, or any [any]", false},
        {"policy", OPTION_CHOICE, &options->policy, policies, "that it starts with [own]", false},
        {"priority", OPTION_COUNT, &options->priority, NULL, "the system's own number [90 on Linux]", false},
        CONDITION_OPTIONS(&options->conditions),
    };
    if (!options_read_or_help(table, sizeof table / sizeof table[0], argc, argv,
                              "usage: tauto-probe watch --program './controller --gain 3' [options]\n\nA program of yours "
                              "that marks its loops with tautochrone_loop.h: when each step begins, and how long it takes.\n\n",
                              code) ||
        !check(options)) {
        return false;
    }
    options->conditions.recording.no_memory_lock = true; /* of this process: it measures nothing */
    *code = choose_cpu(options);
    return *code == EXIT_MEASURED;
}

struct os_thread_attributes watch_attributes(const struct watch_options *options)
{
    return (struct os_thread_attributes){
        .name = "tauto-watch",
        .policy = options->policy < 0 ? OS_POLICY_OTHER : (enum os_policy)options->policy,
        .below_highest = options->below_highest,
        .cpu = options->cpu,
    };
}

void watch_options_to_json(struct json *json, const struct watch_options *options, int64_t ring_rows)
{
    const bool is_ranked = options->policy >= 0;
    json_open_object(json, "parameters");
    json_text(json, "program", options->program);
    json_integer_or_null(json, "period_ns", options->period_ns > 0 ? options->period_ns : INT64_MIN);
    json_integer(json, "duration_ns", options->duration_ns);
    json_integer(json, "warmup", options->warmup);
    json_integer(json, "loops", options->loops);
    json_text(json, "policy", policies[is_ranked ? options->policy : POLICY_OWN]);
    json_integer_or_null(json, "priority", is_ranked && options->priority != 0 ? options->priority : INT64_MIN);
    json_integer(json, "budget_ns", options->conditions.budget_ns);
    /* As every experiment, but for the memory lock: whether the program's memory is locked, nobody knows. */
    json_text(json, "record", options->conditions.recording.record == RECORD_RAW ? "raw" : "histogram");
    if (options->conditions.recording.keep_above_ns > 0) {
        json_integer(json, "keep_above_ns", options->conditions.recording.keep_above_ns);
    }
    json_integer(json, "ring_rows", ring_rows);
    json_close_object(json);
    if (options->period_ns > 0) {
        json_open_object(json, "schedule");
        json_integer(json, "period_ns", options->period_ns);
        json_close_object(json);
    }
}
