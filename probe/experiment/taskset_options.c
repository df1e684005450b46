#include "experiment/taskset_options.h"

#include "experiment/taskset_work.h"
#include "format.h"
#include "message.h"

#include <string.h>

enum { NS_PER_MS = 1000000, NS_PER_US = 1000, PERCENT = 100 };
enum { TASK_STACK_BYTES = 65536, NO_MARGIN = -1, USUAL_MARGIN_US = 20, NEARLY_ALL_PERCENT = 90, MOST_TOLD = 1000 };
static const int64_t ns_per_s = 1000000000;
static const double rounding = 1e-9;

static const char *const policies[] = {"other", "fifo", "rr", "deadline", NULL}; /* as enum os_policy */
static const char *const overruns[] = {"skip", "replay", NULL};
static const char *const works[] = {"calibrated", "clock", NULL}; /* as enum work_kind */

static const char usage[] =
    "usage: tauto-probe taskset --tasks TASKS [options]\n\n"
    "A set of periodic tasks that share CPUs, released together: response time, scheduling latency and run time of\n"
    "every job. Each task is NAME:PERIOD:DEADLINE:EXECUTION:PRIORITY:CPU[:OFFSET[:RUNTIME]], joined by commas:\n\n"
    "  --tasks fast:10ms:10ms:3ms:80:0,slow:40ms:-:10ms:50:0\n\n"
    "DEADLINE - is the period. PRIORITY - goes with a policy that has none. CPU any leaves the choice to the system.\n"
    "RUNTIME is the budget under policy deadline, in place of the execution time and the margin.\n\n";

static bool is_real_time(const struct taskset_options *options)
{
    return options->policy == OS_POLICY_FIFO || options->policy == OS_POLICY_RR;
}

static double utilisation(const struct taskset_options *options, int32_t cpu)
{
    double sum = 0;
    for (uint32_t i = 0; i < options->count; i++) {
        const struct task *const task = &options->tasks[i];
        sum += task->cpu == cpu ? (double)task->execution_ns / (double)task->period_ns : 0;
    }
    return sum;
}

static int32_t own_cpus(void)
{
    int32_t count = 0;
    for (int32_t cpu = 0; cpu < os_cpu_limit(); cpu++) {
        count += os_cpu_is_online(cpu) && os_cpu_is_inherited(cpu) ? 1 : 0;
    }
    return count > 0 ? count : 1;
}

/* What is left over for everybody else is the system's own limit on real-time threads; without one there is nothing. */
static int check_overload(const struct taskset_options *options, const char *where, double used)
{
    const bool is_told = used < MOST_TOLD;
    int64_t runtime_ns = -1;
    int64_t period_ns = 0;
    if (!options->overload) {
        return refuse(EXIT_USAGE,
                      "--tasks: the tasks on %s need %s%d %% of it: some will always be late.\nLengthen periods or "
                      "shorten execution times, or measure it anyway with --overload.",
                      where, is_told ? "" : "more than ", (int)((is_told ? used : MOST_TOLD) * PERCENT + 0.5));
    }
    if (is_real_time(options) && (os_realtime_share(&runtime_ns, &period_ns) != OS_OK || runtime_ns < 0)) {
        return refuse(EXIT_USAGE,
                      "--overload: the tasks on %s would leave no time to anything else, and this system has no limit "
                      "on real-time threads (sched_rt_runtime_us).\nSet one, or take less than 100 %%.",
                      where);
    }
    return EXIT_MEASURED;
}

/* Each CPU once, at its first task. */
static int check_utilisation(const struct taskset_options *options)
{
    bool nearly_all = false;
    for (uint32_t i = 0; i < options->count; i++) {
        const int32_t cpu = options->tasks[i].cpu;
        bool seen = false;
        for (uint32_t before = 0; before < i; before++) {
            seen = seen || options->tasks[before].cpu == cpu;
        }
        if (seen) {
            continue;
        }
        const double used = utilisation(options, cpu) / (cpu == OS_CPU_ANY ? own_cpus() : 1);
        nearly_all = nearly_all || used * PERCENT >= NEARLY_ALL_PERCENT;
        if (used > 1 + rounding) {
            char where[32] = "all CPUs together";
            if (cpu != OS_CPU_ANY) {
                format_text(where, sizeof where, "CPU %d", cpu);
            }
            const int code = check_overload(options, where, used);
            if (code != EXIT_MEASURED) {
                return code;
            }
        }
    }
    if (nearly_all && is_real_time(options)) {
        conditions_warn_of_throttling();
    }
    return EXIT_MEASURED;
}

static void tell_equal_priorities(const struct taskset_options *options)
{
    for (uint32_t i = 1; i < options->count && is_real_time(options); i++) {
        const struct task *const task = &options->tasks[i];
        for (uint32_t before = 0; before < i; before++) {
            const struct task *const other = &options->tasks[before];
            if (other->cpu == task->cpu && other->priority == task->priority) {
                warn("tasks '%s' and '%s' have the same priority, %lld: neither preempts the other.",
                     other->name, task->name, (long long)task->priority);
                break;
            }
        }
    }
}

/* The budget of policy deadline: what the task says, or its execution time and the margin. */
static int choose_runtime(struct task *task, const struct taskset_options *options)
{
    if (options->policy != OS_POLICY_DEADLINE) {
        if (task->runtime_ns == 0) {
            return EXIT_MEASURED;
        }
        return refuse(EXIT_USAGE,
                      "--tasks: task '%s' has a runtime, which is the budget of policy deadline.\n"
                      "Leave it out, or give --policy deadline.",
                      task->name);
    }
    if (task->deadline_ns > task->period_ns) {
        return refuse(EXIT_USAGE, "--tasks: task '%s': policy deadline takes no deadline past the period.\nShorten it.",
                      task->name);
    }
    if (task->runtime_ns == 0) {
        const bool given = options->margin_ns != NO_MARGIN;
        const int64_t usual_ns = task->execution_ns / 10 + (int64_t)USUAL_MARGIN_US * NS_PER_US;
        const int64_t margin_ns = given ? options->margin_ns : usual_ns;
        const bool fits = margin_ns <= task->deadline_ns - task->execution_ns;
        task->runtime_ns = fits ? task->execution_ns + margin_ns : given ? INT64_MAX : task->deadline_ns;
    }
    if (task->runtime_ns < task->execution_ns || task->runtime_ns > task->deadline_ns) {
        return refuse(EXIT_USAGE,
                      "--tasks: task '%s': its budget must lie between its execution time and its deadline.\nChange "
                      "RUNTIME or --runtime-margin.",
                      task->name);
    }
    return EXIT_MEASURED;
}

static int choose_releases(struct task *task, struct taskset_options *options)
{
    if (task->offset_ns >= options->duration_ns) {
        return refuse(EXIT_USAGE,
                      "--tasks: task '%s': its first release comes after --duration.\nLengthen that, or shorten the "
                      "offset.",
                      task->name);
    }
    task->count = (options->duration_ns - task->offset_ns - 1) / task->period_ns + 1;
    task->warmup = options->warmup_ns / task->period_ns;
    options->most_releases = task->count > options->most_releases ? task->count : options->most_releases;
    if (task->execution_ns >= options->conditions.budget_ns) {
        return refuse(EXIT_USAGE,
                      "--tasks: task '%s': its execution time is longer than --budget, so that the watchdog would end "
                      "the run.\nRaise --budget above it.",
                      task->name);
    }
    return choose_runtime(task, options);
}

static int check_set(struct taskset_options *options, bool margin_given)
{
    if (options->tasks_text == NULL) {
        return refuse(EXIT_USAGE, "--tasks is missing.\n'tauto-probe taskset --help' shows how tasks are written.");
    }
    if (margin_given && options->policy != OS_POLICY_DEADLINE) {
        return refuse(EXIT_USAGE, "--runtime-margin belongs to --policy deadline only.");
    }
    if (options->duration_ns == 0) {
        return refuse(EXIT_USAGE, "--duration must be more than 0.");
    }
    int code = tasks_read(options->tasks, &options->count, options->tasks_text, (enum os_policy)options->policy);
    for (uint32_t i = 0; i < options->count && code == EXIT_MEASURED; i++) {
        code = choose_releases(&options->tasks[i], options);
    }
    return code == EXIT_MEASURED ? check_utilisation(options) : code;
}

bool taskset_options_read(struct taskset_options *options, int argc, char **argv, int *code)
{
    *options = (struct taskset_options){
        .duration_ns = 10 * ns_per_s,
        .warmup_ns = 100LL * NS_PER_MS,
        .margin_ns = NO_MARGIN,
        .policy = os_usual_policy(),
        .conditions = conditions_default(),
    };
    struct option table[] = {
        {"tasks", OPTION_TEXT, &options->tasks_text, NULL, "the set, as above", false},
        {"duration", OPTION_DURATION, &options->duration_ns, NULL, "from the common start on [10s]", false},
        {"warmup", OPTION_DURATION, &options->warmup_ns, NULL, "before that, not recorded [100ms]", false},
        {"policy", OPTION_CHOICE, &options->policy, policies, "[fifo]", false},
        {"runtime-margin", OPTION_DURATION, &options->margin_ns, NULL,
         "on top of the execution time, policy deadline only [a tenth and 20us]", false},
        {"work", OPTION_CHOICE, &options->work, works, "so many steps, or until so much time has passed [calibrated]",
         false},
        {"overrun", OPTION_CHOICE, &options->overrun, overruns, "of releases while a job is late [skip]", false},
        {"overload", OPTION_FLAG, &options->overload, NULL, "measure also what needs more than its CPU has", false},
        BLAME_OPTIONS(&options->conditions.recording),
        CONDITION_OPTIONS(&options->conditions),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!options_read_or_help(table, count, argc, argv, usage, code)) {
        return false;
    }
    if (!conditions_check(&options->conditions)) {
        return false;
    }
    *code = check_set(options, options_given("runtime-margin"));
    if (*code != EXIT_MEASURED) {
        return false;
    }
    tell_equal_priorities(options);
    return true;
}

struct os_thread_attributes taskset_attributes(const struct taskset_options *options, const struct task *task)
{
    return (struct os_thread_attributes){
        .name = "tauto-task",
        .policy = (enum os_policy)options->policy,
        .below_highest = task->below_highest,
        .cpu = task->cpu,
        .stack_bytes = TASK_STACK_BYTES,
        .runtime_ns = task->runtime_ns,
        .deadline_ns = task->deadline_ns,
        .period_ns = task->period_ns,
    };
}

void taskset_options_to_json(struct json *json, const struct taskset_options *options, int64_t ring_rows)
{
    json_open_object(json, "parameters");
    json_integer(json, "tasks", options->count);
    json_integer(json, "duration_ns", options->duration_ns);
    json_integer(json, "warmup_ns", options->warmup_ns);
    json_text(json, "policy", policies[options->policy]);
    json_text(json, "work", works[options->work]);
    json_text(json, "overrun", overruns[options->overrun]);
    json_boolean(json, "overload", options->overload);
    json_integer(json, "budget_ns", options->conditions.budget_ns);
    recording_to_json(json, &options->conditions.recording, ring_rows);
    json_close_object(json);
}
