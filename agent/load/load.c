#include "load/load.h"

#include "format.h"
#include "load/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BELOW_HIGHEST = 19, MOST_NICE = 19 };
enum { COMMON_OPTIONS = 5, REAL_TIME_OPTIONS = 2 };
static const int64_t ns_per_s = 1000000000;
static const int64_t longest_ns = 7LL * 24 * 3600 * 1000000000;
/* From the start of the threads until each of them has done something. */
static const int64_t usual_start_patience_ns = 30LL * 1000000000;

static const struct load *const loads[] = {
    &load_cpu, &load_memory, &load_bandwidth, &load_storage, &load_fork,    &load_exit, &load_munmap,
    &load_thp, &load_pipe,   &load_tasks,     &load_comms,   &load_network, &load_irq,  &load_command,
};

static const char *const policy_words[] = {"other", "fifo", "rr", NULL};
static const enum os_policy policies[] = {OS_POLICY_OTHER, OS_POLICY_FIFO, OS_POLICY_RR};

/* Below the usual priority of what is measured, and of its partners. */
static int64_t usual_priority(void)
{
    const int32_t levels = os_priority_levels(OS_POLICY_FIFO);
    const int32_t below = levels > BELOW_HIGHEST ? BELOW_HIGHEST : levels - 1;
    return os_priority_to_native(OS_POLICY_FIFO, below);
}

static int check_common(struct load_run *run)
{
    if (run->duration_ns > longest_ns) {
        return refuse(EXIT_USAGE, "--duration of a load is a week at most.");
    }
    if (run->nice > MOST_NICE) {
        return refuse(EXIT_USAGE, "--nice %" PRId64 ": 0 is usual, and %d gives way to all others.", run->nice, MOST_NICE);
    }
    if (run->policy == OS_POLICY_OTHER) {
        return EXIT_MEASURED;
    }
    if (os_priority_from_native(run->policy, run->priority, &run->below_highest) != OS_OK) {
        return refuse(EXIT_USAGE, "--priority %" PRId64 ": policy %s has no such priority here.", run->priority,
                      os_policy_name(run->policy));
    }
    if (run->cpus.cpus[0] == OS_CPU_ANY) {
        return refuse(EXIT_USAGE, "--cpus any: real-time threads of a load are pinned.\nName their CPUs.");
    }
    return EXIT_MEASURED;
}

static void print_loads(void)
{
    print("usage: tauto-agent load NAME [options]\n\n");
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        print("  %-10s %s\n", loads[i]->name, loads[i]->summary);
    }
    print("\n'tauto-agent load NAME --help' shows its options. A load ends after its time, on a signal, or when\n"
          "standard input ends.\n");
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

/* Words behind "--" belong to the load; `argc` then ends before them. */
static int split_command(struct load_run *run, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            run->argc = argc - i - 1;
            run->argv = argv + i + 1;
            return i;
        }
    }
    return argc;
}

/* Reads the options, the common ones and the load's own. False: `code` is the program's. */
static bool read_options(struct load_run *run, int argc, char **argv, int *code)
{
    const char *cpus_text = "all";
    int policy = run->load->usual_policy == OS_POLICY_OTHER ? 0 : 1;
    struct option table[COMMON_OPTIONS + LOAD_OWN_OPTIONS] = {
        {"cpus", OPTION_TEXT, &cpus_text, NULL, "0,2-3 or all: where its threads run [all]", false},
        {"duration", OPTION_DURATION, &run->duration_ns, NULL, "then it ends by itself [10s]", false},
        {"nice", OPTION_COUNT, &run->nice, NULL, "0-19: gives way to other ordinary threads [0]", false},
        {"policy", OPTION_CHOICE, &policy, policy_words, "of its threads: other, fifo or rr", false},
        {"priority", OPTION_COUNT, &run->priority, NULL, "of its threads, policies fifo and rr", false},
    };
    size_t count = run->load->may_be_real_time ? COMMON_OPTIONS : COMMON_OPTIONS - REAL_TIME_OPTIONS;
    if (run->load->options != NULL) {
        count += run->load->options(run->settings, table + count);
    }
    char usage[256];
    format_text(usage, sizeof usage, "usage: tauto-agent load %s [options]%s\n\n%s.\n\n", run->load->name,
                run->load->takes_command ? " -- COMMAND..." : "", run->load->summary);
    if (!options_read_or_help(table, count, split_command(run, argc, argv), argv, usage, code)) {
        return false;
    }
    run->policy = policies[policy];
    if (run->policy == OS_POLICY_OTHER && options_given("priority")) {
        *code = refuse(EXIT_USAGE, "--priority is for the policies fifo and rr.\n"
                                   "To give way to other threads: --nice 19.");
        return false;
    }
    *code = cpu_list_read(&run->cpus, cpus_text);
    if (*code == EXIT_MEASURED && run->argc > 0 && !run->load->takes_command) {
        *code = refuse(EXIT_USAGE, "the load '%s' takes no command behind --.", run->load->name);
    }
    return *code == EXIT_MEASURED;
}

static int run_load(struct load_run *run)
{
    run->threads = run->cpus.count;
    int code = check_common(run);
    if (code == EXIT_MEASURED && os_stop_listen() != OS_OK) {
        code = refuse(EXIT_FAILED, "the load can't be set up.");
    }
    if (code == EXIT_MEASURED && run->load->prepare != NULL) {
        code = run->load->prepare(run);
    }
    return code == EXIT_MEASURED ? load_run_threads(run) : code;
}

int load_main(int argc, char **argv)
{
    if (argc == 0 || strcmp(argv[0], "--help") == 0) {
        print_loads();
        return argc == 0 ? EXIT_USAGE : EXIT_MEASURED;
    }
    struct load_run run = {
        .load = find_load(argv[0]),
        .duration_ns = 10 * ns_per_s,
        .start_patience_ns = usual_start_patience_ns,
        .priority = usual_priority(),
    };
    if (run.load == NULL) {
        return refuse(EXIT_USAGE, "%s: no such load.\n'tauto-agent load --help' lists them.", argv[0]);
    }
    run.settings = calloc(1, run.load->settings_bytes > 0 ? run.load->settings_bytes : 1);
    if (run.settings == NULL) {
        return refuse(EXIT_FAILED, "there is no memory for the load.");
    }
    int code = EXIT_USAGE;
    if (read_options(&run, argc - 1, argv + 1, &code)) {
        code = run_load(&run);
    }
    free(run.settings);
    return code;
}
