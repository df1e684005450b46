#include "load/load.h"

#include "message.h"
#include "record/json.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_INTERVAL_MS = 20, NS_PER_MS = 1000000 };
static const int64_t ns_per_s = 1000000000;
static const int64_t longest_ns = 7LL * 24 * 3600 * 1000000000;

static const struct load *const loads[] = {&load_cpu, &load_memory};

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

static int run_threads(const struct load *load, const struct load_options *options, struct running_thread *threads)
{
    const int64_t begin_ns = os_now_ns();
    uint32_t started = 0;
    int code = EXIT_MEASURED;
    for (; started < options->cpus.count; started++) {
        struct running_thread *const running = &threads[started];
        running->load = load;
        running->base.options = options;
        running->base.cpu = options->cpus.cpus[started];
        running->base.until_ns = begin_ns + options->duration_ns;
        const struct os_thread_attributes attributes = {
            .name = "tauto-load", .policy = OS_POLICY_OTHER, .cpu = running->base.cpu};
        const enum os_status status = os_thread_create(&running->base.thread, &attributes, run, running);
        if (status != OS_OK) {
            code = refuse(EXIT_FAILED, "a thread of the load can't be started: %s.", os_status_text(status));
            break;
        }
    }
    const bool all_started = started == options->cpus.count;
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

int load_main(int argc, char **argv)
{
    const char *cpus_text = "all";
    struct load_options options = {.duration_ns = 10 * ns_per_s, .bytes = 256LL * 1024 * 1024};
    struct option table[] = {
        {"cpus", OPTION_TEXT, &cpus_text, NULL, "0,2-3 or all: one thread on each [all]", false},
        {"duration", OPTION_DURATION, &options.duration_ns, NULL, "then it ends by itself [10s]", false},
        {"bytes", OPTION_COUNT, &options.bytes, NULL, "memory in all, for the memory load [268435456]", false},
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
    if (options.duration_ns > longest_ns) {
        return refuse(EXIT_USAGE, "--duration of a load is a week at most.");
    }
    const int code = cpu_list_read(&options.cpus, cpus_text);
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct running_thread *const threads = calloc(options.cpus.count, sizeof *threads);
    if (threads == NULL || os_stop_listen() != OS_OK) {
        free(threads);
        return refuse(EXIT_FAILED, "the load can't be set up.");
    }
    const int ended = run_threads(load, &options, threads);
    free(threads);
    return ended;
}
