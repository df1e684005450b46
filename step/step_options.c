#include "step_options.h"

#include "kind.h"
#include "peer.h"

#include "experiment/priority.h"
#include "experiment/schedule.h"
#include "message.h"

#include <inttypes.h>
#include <string.h>

enum { NS_PER_MS = 1000000, USUAL_WARMUP = 100 };
static const int64_t ns_per_s = 1000000000;

static const char *const paces[] = {"real-time", "real-fast", NULL};      /* as enum step_pace */
static const char *const policies[] = {"other", "fifo", "rr", NULL}; /* as enum os_policy */

static bool refuse_usage(const char *what)
{
    refuse(EXIT_USAGE, "%s", what);
    return false;
}

static bool choose_length(struct step_options *options, int64_t duration_ns, bool count_given, bool duration_given)
{
    if (options->period_ns < OS_SHORTEST_PERIOD_NS) {
        return refuse_usage("--period must be 10us or more: to sleep and wake takes nearly as long.");
    }
    if (count_given && duration_given) {
        return refuse_usage("--count and --duration contradict each other.\nGive one of them.");
    }
    if (!count_given) {
        options->count = duration_ns / options->period_ns;
    }
    if (options->count == 0) {
        return refuse_usage("nothing to measure: the run has no step.\nLengthen --duration or raise --count.");
    }
    const int64_t most = INT64_MAX / 4 / options->period_ns;
    if (options->count > most || options->warmup > most) {
        return refuse_usage("the run would end after the clock does.\nShorten --count, --duration or --warmup.");
    }
    return true;
}

/* A real-time thread that never sleeps would be stopped by the system; what belongs to releases has no meaning. */
static bool choose_pace(struct step_options *options)
{
    static const char *const at_a_rate[] = {"overrun", "blame", "exchange", "explain"};
    if (options->pace == STEP_REAL_TIME) {
        return true;
    }
    for (size_t i = 0; i < sizeof at_a_rate / sizeof at_a_rate[0]; i++) {
        if (options_given(at_a_rate[i])) {
            refuse(EXIT_USAGE, "--%s belongs to --pace real-time: real-fast knows no releases.\nLeave it out.", at_a_rate[i]);
            return false;
        }
    }
    if (options_given("policy") && options->policy != OS_POLICY_OTHER) {
        return refuse_usage("--policy: a real-time thread that never sleeps, as --pace real-fast has it, is stopped by the "
                            "system.\nLeave it out: real-fast runs with policy other.");
    }
    options->policy = OS_POLICY_OTHER;
    return true;
}

static int choose_cpu(struct step_options *options)
{
    struct cpu_list *const list = &options->cpus;
    const int code = cpu_list_read(list, options->cpus_text != NULL ? options->cpus_text : "all");
    if (code != EXIT_MEASURED) {
        return code;
    }
    if (options->cpus_text == NULL) {
        list->count = 1;
    }
    if ((int64_t)list->count > options->instances) {
        return refuse(EXIT_USAGE, "--cpus %s: a step runs on one CPU.\nName one, or any; --instances has more than one step.",
                      options->cpus_text);
    }
    return EXIT_MEASURED;
}

static bool check(struct step_options *options, int64_t duration_ns)
{
    if (options->code == NULL) {
        return refuse_usage("name what to run: --code lib.so:NAME or model.fmu.\n"
                            "`tauto step --header` shows how it is written.");
    }
    if (step_kind_of(options->code) == NULL) {
        refuse(EXIT_USAGE, "--code %s: it names no function of a library, and no FMU.\nWrite lib.so:NAME or model.fmu.", options->code);
        return false;
    }
    if (options->instances < 1 || options->instances > STEP_INSTANCES_LIMIT) {
        refuse(EXIT_USAGE, "--instances %" PRId64 ": 1 to %d.", options->instances, STEP_INSTANCES_LIMIT);
        return false;
    }
    if (options->instances > 1 && (options->explain || options->pace == STEP_REAL_FAST || options->exchange.text != NULL)) {
        return refuse_usage("--instances belongs to steps at a rate, without --explain and --exchange.\nLeave one out.");
    }
    if (options->outputs > STEP_SIGNALS_LIMIT) {
        return refuse_usage("--outputs: at most 64 are kept.");
    }
    if (options->explain && options_given("blame")) {
        return refuse_usage("--explain and --blame contradict each other: what is explained would be blamed.\nGive one of them.");
    }
    return choose_pace(options) && choose_length(options, duration_ns, options_given("count"), options_given("duration")) &&
           priority_choose((enum os_policy)options->policy, options_given("priority"), 1, &options->priority,
                           &options->below_highest) &&
           conditions_check(&options->conditions);
}

static bool check_exchange(struct exchange_options *exchange)
{
    const char *form = NULL;
    if (exchange->text == NULL && (exchange->peer >= 0 || options_given("patience"))) {
        return refuse_usage("--peer and --patience are about an exchange, and there is none.\nGive --exchange udp:HOST:PORT, "
                            "can:INTERFACE or gpio:CHIP:OUT:IN.");
    }
    if (exchange->text != NULL && !link_read(&exchange->address, exchange->text, &form)) {
        refuse(EXIT_USAGE, "--exchange %s: it is no address.\nWrite %s.", exchange->text, form);
        return false;
    }
    if (exchange->text != NULL && exchange->peer >= 0 && exchange->address.kind == &link_of_gpio) {
        return refuse_usage("--peer: the other side of a cable has lines of its own.\n"
                            "Start it by itself: tauto-step peer --exchange gpio:CHIP:OUT:IN.");
    }
    return exchange->patience_ns > 0 || refuse_usage("--patience must be longer than nothing.");
}

bool step_options_read(struct step_options *options, int argc, char **argv, int *code)
{
    int64_t duration_ns = 10 * ns_per_s;
    *options = (struct step_options){
        .period_ns = NS_PER_MS,
        .policy = OS_POLICY_FIFO,
        .warmup = USUAL_WARMUP,
        .outputs = STEP_SIGNALS_LIMIT,
        .instances = 1,
        .conditions = conditions_default(),
        .exchange = {.patience_ns = ns_per_s, .peer = -1},
    };
    struct option table[] = {
        {"code", OPTION_TEXT, &options->code, NULL, "what to run: lib.so:NAME, model.fmu", false},
        {"unpacked", OPTION_TEXT, &options->unpacked, NULL, "folder of the unpacked FMU [none]", false},
        {"inputs", OPTION_TEXT, &options->inputs, NULL, "table of what goes into each step [nothing]", false},
        {"outputs", OPTION_COUNT, &options->outputs, NULL, "outputs kept with each step, at most [64]", false},
        {"pace", OPTION_CHOICE, &options->pace, paces, "at a rate, or as fast as possible [real-time]", false},
        {"period", OPTION_PERIOD, &options->period_ns, NULL, "between two releases [1ms]", false},
        {"duration", OPTION_DURATION, &duration_ns, NULL, "of the recorded part [10s]", false},
        {"count", OPTION_COUNT, &options->count, NULL, "recorded steps, instead of a duration", false},
        {"warmup", OPTION_COUNT, &options->warmup, NULL, "steps before those, not recorded [100]", false},
        {"cpus", OPTION_TEXT, &options->cpus_text, NULL, "the CPU that it runs on, or any; of --instances, several [the first]", false},
        {"instances", OPTION_COUNT, &options->instances, NULL, "of it, on these CPUs in turn [1]", false},
        {"policy", OPTION_CHOICE, &options->policy, policies, "[fifo]", false},
        {"priority", OPTION_COUNT, &options->priority, NULL, "the system's own number [90 on Linux]", false},
        {"overrun", OPTION_CHOICE, &options->overrun, overrun_words, "what becomes of missed releases [skip]", false},
        {"exchange", OPTION_TEXT, &options->exchange.text, NULL,
         "send outputs to udp:HOST:PORT, can:INTERFACE or gpio:CHIP:OUT:IN, take inputs from there", false},
        {"patience", OPTION_DURATION, &options->exchange.patience_ns, NULL, "for an answer; a later one is lost [1s]", false},
        {"peer", OPTION_CHOICE, &options->exchange.peer, peer_plants, "play the other side, too", false},
        {"explain", OPTION_FLAG, &options->explain, NULL, "tell what a step calls that keeps it from real time", false},
        BLAME_OPTIONS(&options->conditions.recording),
        CONDITION_OPTIONS(&options->conditions),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!options_read_or_help(table, count, argc, argv,
                              "usage: tauto-probe step --code lib.so:NAME [options]\n\nYour own code in a periodic loop: "
                              "when each step begins, how long it takes, and what the system counts of it.\n\n",
                              code) ||
        !check(options, duration_ns) || !check_exchange(&options->exchange)) {
        return false;
    }
    *code = choose_cpu(options);
    return *code == EXIT_MEASURED;
}

struct os_thread_attributes step_attributes(const struct step_options *options, uint32_t instance)
{
    return (struct os_thread_attributes){
        .name = "tauto-step",
        .policy = (enum os_policy)options->policy,
        .below_highest = options->below_highest,
        .cpu = options->cpus.cpus[instance % options->cpus.count],
    };
}

void step_options_to_json(struct json *json, const struct step_options *options, int64_t ring_rows)
{
    json_open_object(json, "parameters");
    json_text(json, "code", options->code);
    json_text(json, "pace", paces[options->pace]);
    json_integer(json, "period_ns", options->period_ns);
    json_integer(json, "count", options->count);
    json_integer(json, "warmup", options->warmup);
    json_text(json, "policy", policies[options->policy]);
    json_integer_or_null(json, "priority",
                         os_priority_levels((enum os_policy)options->policy) != 0 ? options->priority : INT64_MIN);
    if (options->pace == STEP_REAL_TIME) {
        json_text(json, "overrun", overrun_words[options->overrun]);
    }
    json_integer(json, "budget_ns", options->conditions.budget_ns);
    exchange_options_to_json(json, &options->exchange);
    if (options->explain) {
        json_boolean(json, "explain", true);
    }
    if (options->instances > 1) {
        json_integer(json, "instances", options->instances);
    }
    recording_to_json(json, &options->conditions.recording, ring_rows);
    json_close_object(json);
    if (options->pace == STEP_REAL_TIME) {
        json_open_object(json, "schedule");
        json_integer(json, "period_ns", options->period_ns);
        json_close_object(json);
    }
}
