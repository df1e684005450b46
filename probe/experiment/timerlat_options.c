#include "experiment/timerlat_options.h"

#include "message.h"
#include "os/timerlat.h"

enum { NS_PER_US = 1000 };
static const int64_t shortest_period_ns = 100000;    /* what the kernel takes */
static const int64_t longest_period_ns = 1000000000; /* and what it takes at most */
static const int64_t most_samples = 1000000000;

static bool check(struct timerlat_options *options)
{
    if (options->rhythm.period_ns % NS_PER_US != 0) {
        refuse(EXIT_USAGE, "the kernel's timerlat has periods of whole microseconds.\nChoose another period, or rate.");
        return false;
    }
    if (options->count > most_samples || options->warmup > most_samples) {
        refuse(EXIT_USAGE, "--count and --warmup may be at most %lld.", (long long)most_samples);
        return false;
    }
    return conditions_check(&options->conditions);
}

static int choose_cpus(struct timerlat_options *options)
{
    const int code = cpu_list_read(&options->cpus, options->cpus_text != NULL ? options->cpus_text : "all");
    if (code != EXIT_MEASURED) {
        return code;
    }
    if (options->cpus.cpus[0] == OS_CPU_ANY) {
        return refuse(EXIT_USAGE, "--cpus any: the kernel's timerlat measures on CPUs that are named, such as 0,2-3.");
    }
    if (options->cpus_text == NULL) {
        options->cpus.count = 1;
    }
    return EXIT_MEASURED;
}

bool timerlat_options_read(struct timerlat_options *options, int argc, char **argv, int *code)
{
    *options = (struct timerlat_options){
        .rhythm = rhythm_default(),
        .warmup = RHYTHM_USUAL_WARMUP,
        .conditions = conditions_default(),
    };
    struct option table[] = {
        {"cpus", OPTION_TEXT, &options->cpus_text, NULL, "0,2-3 or all: measured on each of them [the first]", false},
        RHYTHM_OPTIONS(&options->rhythm),
        {"count", OPTION_COUNT, &options->count, NULL, "releases on each CPU, instead of a duration", false},
        {"warmup", OPTION_COUNT, &options->warmup, NULL, "releases before those, not recorded [10]", false},
        {"wake-latency", OPTION_DURATION, &options->conditions.wake_latency_limit_ns, NULL,
         "hold idle CPUs to this wake-up latency [not held]", false},
        HOUSEKEEPING_OPTION(&options->conditions.recording),
        RECORDING_OPTIONS(&options->conditions.recording),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!options_read_or_help(table, count, argc, argv,
                              "usage: tauto-probe timerlat [options]\n\nInterrupt latency and preemption latency as the "
                              "kernel's own tracer timerlat measures them, of a\nthread of the kernel (FIFO 95). The "
                              "period lies between 100us and 1s.\n\n",
                              code)) {
        return false;
    }
    *code = EXIT_USAGE;
    if (!rhythm_choose_period(&options->rhythm, shortest_period_ns, longest_period_ns, "100us and 1s") ||
        !rhythm_choose_count(&options->rhythm, &options->count) || !check(options)) {
        return false;
    }
    *code = choose_cpus(options);
    return *code == EXIT_MEASURED;
}

void timerlat_options_to_json(struct json *json, const struct timerlat_options *options, int64_t ring_rows)
{
    json_open_object(json, "parameters");
    json_text(json, "cpus", options->cpus_text != NULL ? options->cpus_text : "the first");
    json_integer(json, "period_ns", options->rhythm.period_ns);
    json_text(json, "handler", "timerlat");
    json_text(json, "policy", os_policy_name(OS_POLICY_FIFO));
    json_integer(json, "priority", os_priority_to_native(OS_POLICY_FIFO, os_timerlat_below_highest()));
    json_integer(json, "count", options->count);
    json_integer(json, "warmup", options->warmup);
    recording_to_json(json, &options->conditions.recording, ring_rows);
    json_close_object(json);
    json_open_object(json, "schedule");
    json_integer(json, "period_ns", options->rhythm.period_ns);
    json_close_object(json);
}
