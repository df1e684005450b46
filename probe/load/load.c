#include "load/load.h"

#include "message.h"
#include "record/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_INTERVAL_MS = 20, NS_PER_MS = 1000000, TASKS_BELOW_HIGHEST = 19 };
static const int64_t ns_per_s = 1000000000;
static const int64_t longest_ns = 7LL * 24 * 3600 * 1000000000;

static const struct load *const loads[] = {&load_cpu, &load_memory, &load_tasks};

struct running_thread {
    struct load_thread base;
    const struct load *load;
};

bool load_must_end(const struct load_thread *thread)
{
    return os_stop_requested() != OS_STOP_NONE || os_now_ns() >= thread->until_ns;
}

static void run(void *argument)
{
    struct running_thread *const running = argument;
    running->load->work(&running->base);
    running->base.cpu_time_ns = os_thread_cpu_time_ns();
}

static void print_line(struct json *json)
{
    json_close_object(json);
    print("%s\n", json->out_of_memory ? "{}" : json->text);
    json_free(json);
}

static void say_running(const struct load *load, uint32_t threads)
{
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "load", load->name);
    json_text(&json, "event", "running");
    json_integer(&json, "threads", threads);
    print_line(&json);
}

static void say_what_it_did(const struct load *load, const struct running_thread *threads, uint32_t count,
                            int64_t elapsed_ns)
{
    uint64_t operations = 0;
    int64_t cpu_time_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        operations += threads[i].base.operations;
        cpu_time_ns += threads[i].base.cpu_time_ns;
    }
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "load", load->name);
    json_text(&json, "event", "ended");
    json_unsigned(&json, "operations", operations);
    json_text(&json, "unit", load->unit);
    json_integer(&json, "elapsed_ns", elapsed_ns);
    json_integer(&json, "cpu_time_ns", cpu_time_ns);
    json_integer(&json, "threads", count);
    print_line(&json);
}

static const struct load *find_load(const char *name)
{
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        if (strcmp(loads[i]->name, name) == 0) {
            return loads[i];
        }
    }
    return NULL;
}

static uint32_t threads_of(const struct load *load, const struct load_options *options)
{
    return load->real_time ? (uint32_t)options->tasks : options->cpus.count;
}

static int refuse_thread(const struct load_options *options, enum os_status status)
{
    if (status == OS_NOT_PERMITTED) { /* only real-time ones are refused */
        return refuse(EXIT_NOT_PERMITTED, "policy fifo with priority %" PRId64 " is not permitted to this user. %s",
                      options->priority, os_advice_for_policy());
    }
    return refuse(EXIT_FAILED, "a thread of the load can't be started: %s.", os_status_text(status));
}

static int run_threads(const struct load *load, const struct load_options *options, struct running_thread *threads)
{
    const uint32_t count = threads_of(load, options);
    const int64_t begin_ns = os_now_ns();
    uint32_t started = 0;
    int code = EXIT_MEASURED;
    for (; started < count; started++) {
        struct running_thread *const running = &threads[started];
        running->load = load;
        running->base.options = options;
        running->base.cpu = options->cpus.cpus[started % options->cpus.count];
        running->base.until_ns = begin_ns + options->duration_ns;
        const struct os_thread_attributes attributes = {
            .name = "tauto-load",
            .policy = load->real_time ? OS_POLICY_FIFO : OS_POLICY_OTHER,
            .below_highest = options->below_highest,
            .cpu = running->base.cpu,
        };
        const enum os_status status = os_thread_create(&running->base.thread, &attributes, run, running);
        if (status != OS_OK) {
            code = refuse_thread(options, status);
            break;
        }
    }
    const bool all_started = started == count;
    if (all_started) {
        say_running(load, started);
    }
    while (all_started && os_stop_requested() == OS_STOP_NONE && !os_input_ended() &&
           os_now_ns() < begin_ns + options->duration_ns) {
        os_sleep_until(os_now_ns() + (int64_t)LOOK_INTERVAL_MS * NS_PER_MS);
    }
    os_stop_request(OS_STOP_INTERRUPTED);
    for (uint32_t i = 0; i < started; i++) {
        os_thread_join(threads[i].base.thread);
    }
    if (all_started) {
        say_what_it_did(load, threads, started, os_now_ns() - begin_ns);
    }
    return code;
}

static void print_help(const struct option *table, size_t count)
{
    print("usage: tauto-probe load NAME [options]\n\n");
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        print("  %-10s %s\n", loads[i]->name, loads[i]->summary);
    }
    print("\nIt ends after its time, on a signal, or when standard input ends.\n\n");
    options_print(table, count);
}

/* Below the usual priority of what is measured, and of its partners. */
static int64_t usual_priority(void)
{
    const int32_t levels = os_priority_levels(OS_POLICY_FIFO);
    const int32_t below = levels > TASKS_BELOW_HIGHEST ? TASKS_BELOW_HIGHEST : levels - 1;
    return os_priority_to_native(OS_POLICY_FIFO, below);
}

static int check_options(const struct load *load, struct load_options *options)
{
    if (options->duration_ns > longest_ns) {
        return refuse(EXIT_USAGE, "--duration of a load is a week at most.");
    }
    if (os_priority_from_native(OS_POLICY_FIFO, options->priority, &options->below_highest) != OS_OK) {
        return refuse(EXIT_USAGE, "--priority %" PRId64 ": policy fifo has no such priority here.", options->priority);
    }
    if (load->real_time && options->cpus.cpus[0] == OS_CPU_ANY) {
        return refuse(EXIT_USAGE, "--cpus any: the tasks of this load are pinned. Name their CPUs.");
    }
    return load->check != NULL ? load->check(options) : EXIT_MEASURED;
}

int load_main(int argc, char **argv)
{
    const char *cpus_text = "all";
    struct load_options options = {
        .duration_ns = 10 * ns_per_s,
        .bytes = 256LL * 1024 * 1024,
        .tasks = 10,
        .period_ns = 100000,
        .work_ns = 4000,
        .priority = usual_priority(),
    };
    struct option table[] = {
        {"cpus", OPTION_TEXT, &cpus_text, NULL, "0,2-3 or all: one thread on each, or the tasks spread [all]", false},
        {"duration", OPTION_DURATION, &options.duration_ns, NULL, "then it ends by itself [10s]", false},
        {"bytes", OPTION_COUNT, &options.bytes, NULL, "memory in all, for the memory load", false},
        {"tasks", OPTION_COUNT, &options.tasks, NULL, "how many in all, for the load tasks", false},
        {"period", OPTION_DURATION, &options.period_ns, NULL, "of each task [100us]", false},
        {"work", OPTION_DURATION, &options.work_ns, NULL, "of each task in each period [4us]", false},
        {"priority", OPTION_COUNT, &options.priority, NULL, "of the tasks, policy fifo", false},
    };
    const size_t count = sizeof table / sizeof table[0];
    if (argc == 0 || strcmp(argv[0], "--help") == 0) {
        print_help(table, count);
        return argc == 0 ? EXIT_USAGE : EXIT_MEASURED;
    }
    const struct load *const load = find_load(argv[0]);
    if (load == NULL) {
        return refuse(EXIT_USAGE, "%s: no such load. 'tauto-probe load --help' lists them.", argv[0]);
    }
    bool wants_help = false;
    if (!options_read(table, count, argc - 1, argv + 1, &wants_help)) {
        return EXIT_USAGE;
    }
    if (wants_help) {
        print_help(table, count);
        return EXIT_MEASURED;
    }
    int code = cpu_list_read(&options.cpus, cpus_text);
    if (code == EXIT_MEASURED) {
        code = check_options(load, &options);
    }
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct running_thread *const threads = calloc(threads_of(load, &options), sizeof *threads);
    if (threads == NULL || os_stop_listen() != OS_OK) {
        free(threads);
        return refuse(EXIT_FAILED, "the load can't be set up.");
    }
    const int ended = run_threads(load, &options, threads);
    free(threads);
    return ended;
}
