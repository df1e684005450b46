#include "experiment/kernel_options.h"

#include "message.h"

#include <inttypes.h>
#include <string.h>

const char *const kernel_measures[] = {"interrupt", "period", "response", NULL}; /* as enum kernel_measure */
const char *const kernel_mechanisms[] = {"semaphore", "completion", "fifo", "message", "user", NULL};
static const char *const waiters[] = {"above", "same", "below", NULL};

static const int64_t most_samples = 1000000000;
static const int64_t most_repetitions = 1000000;

static bool add_mechanism(struct kernel_options *options, const char *name, size_t length)
{
    for (uint32_t i = 0; i < KERNEL_MECHANISM_COUNT; i++) {
        if (strlen(kernel_mechanisms[i]) != length || strncmp(kernel_mechanisms[i], name, length) != 0) {
            continue;
        }
        for (uint32_t k = 0; k < options->mechanism_count; k++) {
            if (options->mechanisms[k] == (enum kernel_mechanism)i) {
                refuse(EXIT_USAGE, "--mechanisms names %s twice.", kernel_mechanisms[i]);
                return false;
            }
        }
        options->mechanisms[options->mechanism_count++] = (enum kernel_mechanism)i;
        return true;
    }
    refuse(EXIT_USAGE, "--mechanisms %s: choose from semaphore, completion, fifo, message, user, joined by commas, or "
                       "all.",
           options->mechanisms_text);
    return false;
}

static bool choose_mechanisms(struct kernel_options *options)
{
    const char *at = options->mechanisms_text;
    at = strcmp(at, "all") == 0 ? "semaphore,completion,fifo,message,user" : at;
    for (;;) {
        const size_t length = strcspn(at, ",");
        if (!add_mechanism(options, at, length)) {
            return false;
        }
        if (at[length] == '\0') {
            return true;
        }
        at += length + 1;
    }
}

/* What the chosen measure has no use for is not passed over in silence. */
static bool check_use(const struct kernel_options *options)
{
    static const struct {
        const char *name;
        enum kernel_measure measure;
    } uses[] = {{"mechanisms", KERNEL_RESPONSE},
                {"repetitions", KERNEL_RESPONSE},
                {"waiter", KERNEL_RESPONSE},
                {"soft", KERNEL_INTERRUPT}};
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        if ((int)uses[i].measure != options->measure && options_given(uses[i].name)) {
            refuse(EXIT_USAGE, "--%s belongs to --measure %s.\nLeave it out.", uses[i].name,
                   kernel_measures[uses[i].measure]);
            return false;
        }
    }
    return true;
}

/* A task that is alone is on the first CPU; two are taken only where nobody can think that it is on both. */
static bool check_place(struct kernel_options *options, bool place_given)
{
    struct stage_options *const stage = &options->stage;
    if (options->measure == KERNEL_RESPONSE) {
        return true;
    }
    if (place_given ? stage->place != PLACE_SAME : stage->cpus_text != NULL && stage->far_cpu != OS_CPU_ANY) {
        refuse(EXIT_USAGE, "--measure %s has one task: name one CPU, or give --place same for the first of two.",
               kernel_measures[options->measure]);
        return false;
    }
    stage->place = PLACE_SAME;
    return true;
}

static bool check_counts(struct kernel_options *options, bool count_given)
{
    static const int64_t usual_counts[] = {1000, 50, 10};
    options->exchanges = count_given ? options->stage.count : usual_counts[options->measure];
    if (options->measure != KERNEL_RESPONSE) {
        options->repetitions = 1;
    }
    if (options->repetitions < 1 || options->repetitions > most_repetitions ||
        options->exchanges > most_samples / options->repetitions) {
        refuse(EXIT_USAGE, "--repetitions must lie between 1 and %" PRId64 ", and times --count at most %" PRId64 ".",
               most_repetitions, most_samples);
        return false;
    }
    options->stage.count = options->exchanges * options->repetitions;
    return true;
}

static bool check_waiter(const struct kernel_options *options)
{
    if (options->measure == KERNEL_RESPONSE && options->waiter != KERNEL_SAME &&
        options->stage.below_highest + 2 > os_priority_levels(OS_POLICY_FIFO)) {
        refuse(EXIT_USAGE, "--priority %" PRId64 " is the lowest of policy fifo, and --waiter %s needs one below it.",
               options->stage.priority, waiters[options->waiter]);
        return false;
    }
    return true;
}

bool kernel_options_read(struct kernel_options *options, int argc, char **argv, int *code)
{
    *options = (struct kernel_options){
        .mechanisms_text = "all", .repetitions = 5, .stage = stage_options_default(10, 1)};
    struct stage_options *const stage = &options->stage;
    struct option table[] = {
        {"measure", OPTION_CHOICE, &options->measure, kernel_measures, "as the experiment of that name [interrupt]",
         false},
        {"periods", OPTION_TEXT, &options->periods.text, NULL, "rows for each [10ms,30ms,50ms; interrupt 10ms]",
         false},
        {"mechanisms", OPTION_TEXT, &options->mechanisms_text, NULL, "semaphore,fifo,… or all [all]", false},
        {"repetitions", OPTION_COUNT, &options->repetitions, NULL, "times --count, each with threads of its own",
         false},
        {"waiter", OPTION_CHOICE, &options->waiter, waiters, "priority of task 2 beside task 1 [above]", false},
        {"soft", OPTION_FLAG, &options->soft, NULL, "the timer's handler as a soft interrupt", false},
        {"cpus", OPTION_TEXT, &stage->cpus_text, NULL, "one CPU, or two for a response: 0,1 [the first ones]", false},
        {"place", OPTION_CHOICE, &stage->place, stage_places, "rows on one CPU, on two, or both [both]", false},
        {"priority", OPTION_COUNT, &stage->priority, NULL, "of the highest-priority thread, policy fifo [90 on Linux]",
         false},
        {"count", OPTION_COUNT, &stage->count, NULL, "of each row or repetition [interrupt 1000, period 50, 10]",
         false},
        {"warmup", OPTION_COUNT, &stage->warmup, NULL, "samples before those, not recorded", false},
        CONDITION_OPTIONS(&stage->conditions),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!stage_options_read(stage, table, count, argc, argv,
                            "usage: tauto-probe kernel [options]\n\n"
                            "The same intervals in kernel space, by timers and threads of the kernel: interrupt,\n"
                            "period and response. Needs the probe's kernel half, a module: docs/kmod.md.\n\n",
                            1, code)) {
        return false;
    }
    *code = EXIT_USAGE;
    if (options->periods.text == NULL) {
        options->periods.text = options->measure == KERNEL_INTERRUPT ? "10ms" : "10ms,30ms,50ms";
    }
    return check_use(options) && check_place(options, options_given("place")) &&
           check_counts(options, options_given("count")) &&
           check_waiter(options) && choose_mechanisms(options) &&
           periods_read(&options->periods, KERNEL_SHORTEST_PERIOD_NS, "20us");
}

void kernel_options_to_json(struct json *json, const struct kernel_options *options, int64_t ring_rows)
{
    char build[KERNEL_BUILD_BYTES];
    os_kernel_half_build(build);
    json_text(json, "measure", kernel_measures[options->measure]);
    json_text(json, "periods", options->periods.text);
    if (options->measure == KERNEL_RESPONSE) {
        json_text(json, "mechanisms", options->mechanisms_text);
        json_integer(json, "repetitions", options->repetitions);
        json_integer(json, "exchanges", options->exchanges);
        json_text(json, "waiter", waiters[options->waiter]);
    }
    if (options->measure == KERNEL_INTERRUPT) {
        json_text(json, "handler", options->soft ? "hrtimer, soft" : "hrtimer, hard");
    }
    json_integer(json, "kernel_half", KERNEL_VERSION);
    json_text(json, "kernel_half_build", build);
    stage_options_to_json(json, &options->stage, ring_rows);
}
