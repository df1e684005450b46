#include "experiment/tire_options.h"

#include "experiment/priority.h"
#include "experiment/schedule.h"
#include "message.h"

enum { USUAL_NODES = 400, USUAL_WARMUP = 10, THREADS_MOST = CPU_LIST_LIMIT };
enum { NS_PER_US = 1000, NS_PER_MS = 1000000, USUAL_STEP_MS = 10, USUAL_SPIN_US = 50, USUAL_DURATION_S = 60 };
static const int64_t ns_per_s = 1000000000;
static const double drop_m = 0.5; /* 0.3 s of free fall */

static const char *const paces[] = {"real-time", "real-fast", NULL};
static const char *const policies[] = {"other", "fifo", "rr", NULL}; /* as enum os_policy */

static const char usage[] =
    "usage: tauto-probe tire [options]\n\n"
    "A tire of point masses, springs and dampers falls onto the floor, computed by several threads: each step at its\n"
    "release (real-time), or one after the other as fast as possible (real-fast).\n\n";

bool tire_is_real_time_policy(const struct tire_options *options)
{
    return options->policy == OS_POLICY_FIFO || options->policy == OS_POLICY_RR;
}

struct os_thread_attributes tire_attributes(const struct tire_options *options, uint32_t thread)
{
    return (struct os_thread_attributes){
        .name = "tauto-tire",
        .policy = (enum os_policy)options->policy,
        .below_highest = options->below_highest,
        .cpu = options->cpus.cpus[thread % options->cpus.count],
    };
}

static bool check_nodes(const struct tire_options *options)
{
    const int64_t nodes = options->parameters.nodes;
    if (nodes % TIRE_NODES_LEAST != 0 || nodes < TIRE_NODES_LEAST || nodes > TIRE_NODES_MOST) {
        refuse(EXIT_USAGE, "--nodes %lld: the tire has a multiple of 4 masses, at least %d and at most %d.",
               (long long)nodes, TIRE_NODES_LEAST, TIRE_NODES_MOST);
        return false;
    }
    return true;
}

static bool check_threads(const struct tire_options *options)
{
    const long long threads = options->threads;
    if (threads < 1 || threads > THREADS_MOST) {
        refuse(EXIT_USAGE, "--threads %lld: at least 1 and at most %d.", threads, THREADS_MOST);
        return false;
    }
    if (threads > options->parameters.nodes) {
        refuse(EXIT_USAGE, "--threads %lld: more threads than the %lld masses.\nTake fewer threads, or raise --nodes.",
               threads, (long long)options->parameters.nodes);
        return false;
    }
    if (options->solver == TIRE_SINGLE && threads > 1) {
        refuse(EXIT_USAGE, "--solver single has one thread, --threads says %lld.\nLeave that out, or take another "
                           "solver.",
               threads);
        return false;
    }
    return true;
}

static bool check_model(struct tire_options *options, bool stiffness_given)
{
    struct tire_parameters *const parameters = &options->parameters;
    const long long step_ns = parameters->step_ns;
    if (step_ns <= 0) {
        refuse(EXIT_USAGE, "--step must be more than 0.");
        return false;
    }
    const double limit = tire_stiffness_limit(parameters->step_ns);
    if (stiffness_given && (options->stiffness < 1 || (double)options->stiffness >= limit)) {
        refuse(EXIT_USAGE,
               "--stiffness %lld: with a step of %lld.%03lld us the simulation is stable above 0 and below %lld (stiffness of "
               "a ring spring per mass, in 1/s^2).\nTake one between, or shorten --step.",
               (long long)options->stiffness, step_ns / 1000, step_ns % 1000, (long long)limit);
        return false;
    }
    parameters->stiffness_per_mass = (double)options->stiffness;
    const char *const wrong = tire_model_wrong(parameters);
    if (wrong != NULL) {
        refuse(EXIT_USAGE, "%s", wrong);
        return false;
    }
    return true;
}

static bool choose_length(struct tire_options *options, int64_t duration_ns, bool count_given, bool duration_given)
{
    if (count_given && duration_given) {
        refuse(EXIT_USAGE, "--count and --duration contradict each other.\nGive one of them.");
        return false;
    }
    const int64_t step_ns = options->parameters.step_ns;
    if (!count_given) {
        options->count = duration_ns / step_ns;
    }
    if (options->count == 0) {
        refuse(EXIT_USAGE, "nothing to compute: %s.\nLengthen --duration or raise --count.",
               count_given ? "--count is 0" : "the duration is shorter than one step");
        return false;
    }
    const int64_t most = INT64_MAX / 4 / step_ns;
    if (options->count > most || options->warmup > most) {
        refuse(EXIT_USAGE, "the run would end after the clock does.\nShorten --count, --duration or --warmup.");
        return false;
    }
    return true;
}

/* What a rate allows, and what has a meaning at a rate only. */
static bool check_pace(struct tire_options *options)
{
    static const char *const at_a_rate[] = {"warmup", "overrun", "overload", "send", "blame"};
    if (options->pace == TIRE_REAL_TIME) {
        if (options->parameters.step_ns >= OS_SHORTEST_PERIOD_NS || options->overload) {
            return true;
        }
        refuse(EXIT_USAGE, "--step must be 10us or more in real time: to sleep and wake takes nearly as long, so the threads "
                           "would hold their CPUs.\n--overload measures it all the same.");
        return false;
    }
    for (size_t i = 0; i < sizeof at_a_rate / sizeof at_a_rate[0]; i++) {
        if (options_given(at_a_rate[i])) {
            refuse(EXIT_USAGE, "--%s belongs to --pace real-time: real-fast knows no releases.\nLeave it out.",
                   at_a_rate[i]);
            return false;
        }
    }
    if (options->conditions.recording.record == RECORD_HISTOGRAM) {
        refuse(EXIT_USAGE, "--record histogram contradicts --pace real-fast: the result is the sum of all rows, and "
                           "bins don't keep it.\nUse --record raw.");
        return false;
    }
    options->warmup = 0;
    return true;
}

static bool check_send(struct tire_options *options)
{
    if (options->send_text == NULL || live_destination_read(options->send_text, &options->send)) {
        return true;
    }
    refuse(EXIT_USAGE,
           "--send %s: write an IP address in numbers and a port, as 10.0.0.2:5005 or [::1]:5005; names are not looked "
           "up.",
           options->send_text);
    return false;
}

static int64_t cpus_of_process(void)
{
    int64_t count = 0;
    for (int32_t cpu = 0; cpu < os_cpu_limit(); cpu++) {
        count += os_cpu_is_online(cpu) && os_cpu_is_inherited(cpu) ? 1 : 0;
    }
    return count;
}

/* Who spins on a CPU keeps it from the thread that it waits for, if that has to run there. */
static bool choose_spin(struct tire_options *options, bool given)
{
    const bool pinned = options->cpus.cpus[0] != OS_CPU_ANY;
    const int64_t cpus = pinned ? options->cpus.count : cpus_of_process();
    if (!given) {
        options->spin_ns = pinned && options->threads <= cpus ? (int64_t)USUAL_SPIN_US * NS_PER_US : 0;
        return true;
    }
    if (options->spin_ns > options->conditions.budget_ns / 2) {
        refuse(EXIT_USAGE, "--spin must not be longer than half of --budget.\nShorten it.");
        return false;
    }
    const bool real_time = tire_is_real_time_policy(options);
    if (options->spin_ns > 0 && options->threads > 1 && !pinned && real_time) {
        refuse(EXIT_USAGE,
               "--spin contradicts --policy %s with --cpus any: two threads may come to one CPU, and the one that "
               "spins keeps it from the one it waits for.\nLeave --spin out, or name CPUs.",
               policies[options->policy]);
        return false;
    }
    if (options->spin_ns > 0 && options->threads > cpus && real_time) {
        refuse(EXIT_USAGE,
               "--spin contradicts --policy %s with %lld threads on %lld CPU%s: a thread that spins keeps its CPU from "
               "the one it waits for.\nLeave --spin out, or take fewer threads.",
               policies[options->policy], (long long)options->threads, (long long)cpus, cpus == 1 ? "" : "s");
        return false;
    }
    return true;
}

static struct tire_options usual_options(void)
{
    return (struct tire_options){
        .parameters =
            {
                .nodes = USUAL_NODES,
                .step_ns = (int64_t)USUAL_STEP_MS * NS_PER_MS,
                .drop_m = drop_m,
                .gravity = true,
            },
        .threads = 1,
        .solver = TIRE_HALO,
        .warmup = USUAL_WARMUP,
        .policy = os_usual_policy(),
        .conditions = conditions_default(),
        .cpus_text = "all",
    };
}

bool tire_options_read(struct tire_options *options, int argc, char **argv, int *code)
{
    int64_t duration_ns = USUAL_DURATION_S * ns_per_s;
    *options = usual_options();
    struct option table[] = {
        {"nodes", OPTION_COUNT, &options->parameters.nodes, NULL, "point masses, a multiple of 4", false},
        {"threads", OPTION_COUNT, &options->threads, NULL, "that share them", false},
        {"solver", OPTION_CHOICE, &options->solver, tire_solver_names, "[halo]", false},
        {"pace", OPTION_CHOICE, &options->pace, paces, "at a rate, or as fast as possible [real-time]", false},
        {"step", OPTION_PERIOD, &options->parameters.step_ns, NULL, "simulated; in real time the period, too [10ms]",
         false},
        {"duration", OPTION_DURATION, &duration_ns, NULL, "that is simulated [60s]", false},
        {"count", OPTION_COUNT, &options->count, NULL, "steps, instead of a duration", false},
        {"warmup", OPTION_COUNT, &options->warmup, NULL, "steps before that, not recorded; real time only", false},
        {"overrun", OPTION_CHOICE, &options->overrun, overrun_words, "what becomes of missed releases [skip]", false},
        {"policy", OPTION_CHOICE, &options->policy, policies, "[fifo]", false},
        {"priority", OPTION_COUNT, &options->priority, NULL, "the system's own number [90 on Linux]", false},
        {"cpus", OPTION_TEXT, &options->cpus_text, NULL, "0,2-3 or all: threads on each in turn; any: free [all]",
         false},
        {"spin", OPTION_DURATION, &options->spin_ns, NULL,
         "how long who waits for the others keeps its CPU [50us if each thread has its own, else 0s]", false},
        {"stiffness", OPTION_COUNT, &options->stiffness, NULL,
         "of a ring spring per mass, in 1/s^2 [half of the limit]", false},
        {"overload", OPTION_FLAG, &options->overload, NULL, "measure also where no step can keep the rate", false},
        {"send", OPTION_TEXT, &options->send_text, NULL, "to ADDRESS:PORT, the moving tire, by UDP [not sent]", false},
        BLAME_OPTIONS(&options->conditions.recording),
        CONDITION_OPTIONS(&options->conditions),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!options_read_or_help(table, count, argc, argv, usage, code)) {
        return false;
    }
    if (!check_nodes(options) || !check_threads(options) ||
        !check_model(options, options_given("stiffness")) || !check_pace(options) ||
        !check_send(options) ||
        !choose_length(options, duration_ns, options_given("count"), options_given("duration")) ||
        !priority_choose((enum os_policy)options->policy, options_given("priority"), 1,
                         &options->priority, &options->below_highest) ||
        !conditions_check(&options->conditions)) {
        return false;
    }
    *code = cpu_list_read(&options->cpus, options->cpus_text);
    if (*code == EXIT_MEASURED && !choose_spin(options, options_given("spin"))) {
        *code = EXIT_USAGE;
    }
    return *code == EXIT_MEASURED;
}

int tire_options_check_clock(const struct tire_options *options, const struct clock_calibration *clock)
{
    const int64_t finest_ns =
        clock->reported_resolution_ns > clock->step_ns ? clock->reported_resolution_ns : clock->step_ns;
    const int64_t period_ns = options->parameters.step_ns;
    if (options->pace == TIRE_REAL_TIME && (period_ns < finest_ns || period_ns < clock->cost_ns)) {
        return refuse(EXIT_USAGE,
                      "--step %lld ns is below what the clock resolves here: it reports %lld ns, steps by %lld ns and "
                      "takes %lld ns to read.\nLengthen the step, or take --pace real-fast.",
                      (long long)period_ns, (long long)clock->reported_resolution_ns, (long long)clock->step_ns,
                      (long long)clock->cost_ns);
    }
    return EXIT_MEASURED;
}

static void threads_to_json(struct json *json, const struct tire_options *options)
{
    json_integer(json, "threads", options->threads);
    json_text(json, "cpus", options->cpus_text);
    json_integer(json, "spin_ns", options->spin_ns);
    json_text(json, "policy", policies[options->policy]);
    json_integer_or_null(json, "priority",
                         os_priority_levels((enum os_policy)options->policy) != 0 ? options->priority : INT64_MIN);
    json_integer(json, "budget_ns", options->conditions.budget_ns);
}

void tire_options_to_json(struct json *json, const struct tire_options *options, int64_t ring_rows,
                          int64_t steps_per_row)
{
    const int64_t nodes = options->parameters.nodes;
    const bool real_time = options->pace == TIRE_REAL_TIME;
    json_open_object(json, "parameters");
    json_integer(json, "nodes", nodes);
    json_integer(json, "springs", tire_springs(nodes));
    json_text(json, "solver", tire_solver_names[options->solver]);
    json_text_or_null(json, "vector", options->solver == TIRE_HALO ? tire_vector_name() : NULL);
    json_text(json, "pace", paces[options->pace]);
    json_integer(json, "step_ns", options->parameters.step_ns);
    json_integer(json, "count", options->count);
    if (real_time) {
        json_integer(json, "warmup", options->warmup);
        json_text(json, "overrun", overrun_words[options->overrun]);
        json_boolean(json, "overload", options->overload);
        if (options->send_text != NULL) {
            json_text(json, "send", options->send_text);
        }
    }
    json_integer(json, "steps_per_row", steps_per_row);
    threads_to_json(json, options);
    recording_to_json(json, &options->conditions.recording, ring_rows);
    json_close_object(json);
    if (real_time) {
        json_open_object(json, "schedule");
        json_integer(json, "period_ns", options->parameters.step_ns);
        json_close_object(json);
    }
}
