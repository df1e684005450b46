#include "watch.h"

#include "experiment/priority.h"
#include "message.h"

#include <inttypes.h>
#include <string.h>

enum { USUAL_WARMUP = 100, NS_PER_MS = 1000000 };
static const int64_t ns_per_s = 1000000000;
static const int64_t longest_period_ns = 3600000000000;

enum { POLICY_OWN = 3 };
static const char *const policies[] = {"other", "fifo", "rr", "own", NULL}; /* as enum os_policy, but for the last */

static bool refuse_usage(const char *what)
{
    refuse(EXIT_USAGE, "%s", what);
    return false;
}

/* The next of the words between colons. */
static const char *cut(char **words)
{
    char *const word = *words;
    *words = word + strcspn(word, ":");
    if (**words == ':') {
        *(*words)++ = '\0';
    }
    return word;
}

/* "marks", "sleep", "read", "provider:begin:end". */
static bool read_by(struct watch_options *options)
{
    const char *const by = options->by != NULL ? options->by : options->pid != 0 ? "sleep" : "marks";
    char *words = options->words;
    const size_t length = strlen(by);
    const size_t colons = length - strcspn(by, ":") == 0 ? 0 : 2;
    options->by = by;
    options->from_outside = strcmp(by, "marks") != 0;
    options->wish.way = strcmp(by, "sleep") == 0 ? OUTSIDE_SLEEP : colons != 0 ? OUTSIDE_PROBES : OUTSIDE_CALL;
    if (length >= sizeof options->words || (colons == 0 && strspn(by, "abcdefghijklmnopqrstuvwxyz0123456789_") != length)) {
        refuse(EXIT_USAGE, "--by %s: neither marks, nor sleep, nor the name of a system call, nor USDT probes.\n"
                           "Write probes as PROVIDER:BEGIN:END.", by);
        return false;
    }
    memcpy(words, by, length + 1);
    if (options->wish.way == OUTSIDE_CALL) {
        options->wish.call = words;
        return true;
    }
    if (options->wish.way == OUTSIDE_PROBES) {
        options->wish.provider = cut(&words);
        options->wish.begin = cut(&words);
        options->wish.end = cut(&words);
        if (*options->wish.provider == '\0' || *options->wish.begin == '\0' || *options->wish.end == '\0' || *words != '\0') {
            refuse(EXIT_USAGE, "--by %s: write the probes of a step as PROVIDER:BEGIN:END.", by);
            return false;
        }
    }
    return true;
}

/* A number names one thread, anything else all of that name. */
static bool read_thread(struct watch_options *options)
{
    enum { BASE = 10 };
    if (options->thread == NULL) {
        return true;
    }
    if (!options->from_outside) {
        return refuse_usage("--thread: a program that marks its loops names them itself.\nGive --by sleep, too.");
    }
    int64_t number = 0;
    const size_t length = strlen(options->thread);
    const bool is_number = length > 0 && length < BASE && strspn(options->thread, "0123456789") == length;
    for (size_t i = 0; is_number && i < length; i++) {
        number = number * BASE + (options->thread[i] - '0');
    }
    if (length >= OUTSIDE_NAME_BYTES) {
        return refuse_usage("--thread: a thread's name has at most 15 letters (/proc/PID/task/TID/comm).");
    }
    options->wish.thread = number;
    options->wish.thread_name = number != 0 ? NULL : options->thread;
    return true;
}

static bool check_process(const struct watch_options *options)
{
    const bool is_named = options->program != NULL && options->program[0] != '\0';
    if (options->pid == 0 && !is_named) {
        return refuse_usage("name what to run: --program './controller --gain 3', or what runs already: --pid.\n"
                            "`tauto watch --header c` prints the header that it marks its loop with.");
    }
    if (options->pid != 0 && is_named) {
        return refuse_usage("--pid is about a program that runs already: leave --program out.");
    }
    if (options->pid != 0 && !options->from_outside) {
        return refuse_usage("--by marks: only a program that is started here finds the memory for its marks.\n"
                            "Give --by sleep, or start it.");
    }
    if (options->pid != 0 && (options->policy != POLICY_OWN || options->cpus_text != NULL)) {
        return refuse_usage("--policy and --cpus are for a program that is started here; --pid changes nothing of it.\n"
                            "Leave them out, or use chrt and taskset.");
    }
    if (options->pid > INT32_MAX) {
        return refuse_usage("--pid: there is no process of that number.");
    }
    return true;
}

static bool check(struct watch_options *options)
{
    if (!read_by(options) || !read_thread(options) || !check_process(options)) {
        return false;
    }
    if (options_given("period") && options->period_ns < OS_SHORTEST_PERIOD_NS) {
        return refuse_usage("--period must be 10us or more: to sleep and wake takes nearly as long.");
    }
    if (options->period_ns > longest_period_ns) {
        return refuse_usage("--period must be 1h or less.");
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
        {"pid", OPTION_COUNT, &options->pid, NULL, "what runs already: the number of its process", false},
        {"by", OPTION_TEXT, &options->by, NULL, "marks, sleep, a system call, or PROVIDER:BEGIN:END [marks]", false},
        {"thread", OPTION_TEXT, &options->thread, NULL, "only this one, by name or number [all that have steps]", false},
        {"period", OPTION_PERIOD, &options->period_ns, NULL, "that the loops are to keep [not known]", false},
        {"duration", OPTION_DURATION, &options->duration_ns, NULL, "of the recorded part [10s]", false},
        {"warmup", OPTION_COUNT, &options->warmup, NULL, "steps of each loop before it, not recorded [100]", false},
        {"loops", OPTION_COUNT, &options->loops, NULL, "loops to wait for [1]", false},
        {"cpus", OPTION_TEXT, &options->cpus_text, NULL, "the CPU that it runs on, or any [any]", false},
        {"policy", OPTION_CHOICE, &options->policy, policies, "that it starts with [own]", false},
        {"priority", OPTION_COUNT, &options->priority, NULL, "the system's own number [90 on Linux]", false},
        CONDITION_OPTIONS(&options->conditions),
        BLAME_OPTIONS(&options->conditions.recording),
    };
    if (!options_read_or_help(table, sizeof table / sizeof table[0], argc, argv,
                              "usage: tauto-probe watch --program './controller --gain 3' [options]\n\nA program of yours "
                              "whose loops are marked with tautochrone_loop.h, or are seen by their sleeps or USDT probes: "
                              "when each step begins, and how long it takes.\n\n",
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
    if (options->pid != 0) {
        json_integer(json, "pid", options->pid);
    } else {
        json_text(json, "program", options->program);
    }
    if (options->from_outside) {
        json_text(json, "by", options->by);
    }
    if (options->thread != NULL) {
        json_text(json, "thread", options->thread);
    }
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
    if (options->conditions.recording.blame.text != NULL) {
        json_text(json, "blame", options->conditions.recording.blame.text);
    }
    json_integer(json, "ring_rows", ring_rows);
    json_close_object(json);
    if (options->period_ns > 0) {
        json_open_object(json, "schedule");
        json_integer(json, "period_ns", options->period_ns);
        json_close_object(json);
    }
}
