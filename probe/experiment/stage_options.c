#include "experiment/stage_options.h"

#include "experiment/priority.h"
#include "message.h"


const char *const stage_places[] = {"both", "same", "different", NULL};
const char *const stage_policies[] = {"other", "fifo", "rr", NULL}; /* as enum os_policy */

static struct stage_options form; /* only its addresses count */

static const struct option urgency_options[] = {
    {"policy", OPTION_CHOICE, &form.policy, stage_policies, "[fifo]", false},
    {"priority", OPTION_COUNT, &form.priority, NULL, "of the highest of its threads [90 on Linux]", false},
    {"count", OPTION_COUNT, &form.count, NULL, "samples of each row", false},
    {"warmup", OPTION_COUNT, &form.warmup, NULL, "samples before those, not recorded", false},
};
const struct option_group urgency_group = {urgency_options, sizeof urgency_options / sizeof urgency_options[0], &form};

static const int64_t most_samples = 1000000000;

struct stage_options stage_options_default(int64_t count, int64_t warmup)
{
    return (struct stage_options){
        .policy = os_usual_policy(),
        .count = count,
        .warmup = warmup,
        .conditions = conditions_default(),
        .near_cpu = OS_CPU_ANY,
        .far_cpu = OS_CPU_ANY,
    };
}

static bool choose_cpus(struct stage_options *options, bool one_only, int *code)
{
    struct cpu_list list;
    *code = cpu_list_read(&list, options->cpus_text != NULL ? options->cpus_text : "all");
    if (*code != EXIT_MEASURED) {
        return false;
    }
    const bool given = options->cpus_text != NULL;
    if (given && one_only && (list.count > 1 || list.cpus[0] == OS_CPU_ANY)) {
        *code = refuse(EXIT_USAGE, "--cpus %s: name one CPU: here all threads share it.", options->cpus_text);
        return false;
    }
    if ((given && list.count > 2) || list.cpus[0] == OS_CPU_ANY) {
        *code = refuse(EXIT_USAGE, "--cpus %s: name one CPU, or two (0,1): threads that meet are always pinned.",
                       options->cpus_text);
        return false;
    }
    options->near_cpu = list.cpus[0];
    options->far_cpu = list.count > 1 ? list.cpus[1] : OS_CPU_ANY;
    if (options->place == PLACE_DIFFERENT && options->far_cpu == OS_CPU_ANY) {
        *code = refuse(EXIT_USAGE, "--place different needs two CPUs, and there is one.\n%s",
                       given ? "Name two: --cpus 0,1." : "Use --place same.");
        return false;
    }
    return true;
}

bool stage_options_read(struct stage_options *options, struct option *table, size_t count, int argc, char **argv,
                        const char *usage, int32_t levels, int *code)
{
    if (!options_read_or_help(table, count, argc, argv, usage, code)) {
        return false;
    }
    if (options->count < 1 || options->count > most_samples || options->warmup > most_samples) {
        refuse(EXIT_USAGE, "--count must lie between 1 and %lld, and --warmup at most there.", (long long)most_samples);
        return false;
    }
    if (!priority_choose((enum os_policy)options->policy, options_given("priority"), levels,
                         &options->priority, &options->below_highest) ||
        !conditions_check(&options->conditions)) {
        return false;
    }
    /* An experiment with threads on two CPUs has the option `place`. */
    return choose_cpus(options, !options_known("place"), code);
}

void stage_options_to_json(struct json *json, const struct stage_options *options, int64_t ring_rows)
{
    if (options->place == PLACE_SAME) {
        json_integer(json, "cpu", options->near_cpu);
    } else {
        json_integer(json, "near_cpu", options->near_cpu);
        json_integer_or_null(json, "far_cpu", options->far_cpu == OS_CPU_ANY ? INT64_MIN : options->far_cpu);
        json_text(json, "place", stage_places[options->place]);
    }
    json_text(json, "policy", os_policy_name((enum os_policy)options->policy));
    if (os_priority_levels((enum os_policy)options->policy) != 0) {
        json_integer(json, "priority", options->priority);
    } else {
        json_null(json, "priority");
    }
    json_integer(json, "count", options->count);
    json_integer(json, "warmup", options->warmup);
    json_integer(json, "budget_ns", options->conditions.budget_ns);
    recording_to_json(json, &options->conditions.recording, ring_rows);
}
