/* The table of what the probe can do. */
#include "agent/agent.h"
#include "experiment/experiment.h"
#include "load/load.h"
#include "message.h"
#include "os/os.h"
#include "os/rights.h"

#include <string.h>

struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
};

static int list_services(int argc, char **argv);

static const struct command commands[] = {
    {"cyclic", "scheduling latency of periodic threads", experiment_cyclic},
    {"period", "error of the period of a periodic task", experiment_period},
    {"switch", "context switch: yield, and a mutex handed over", experiment_switch},
    {"rhealstone", "the six times of the Rhealstone benchmark", experiment_rhealstone},
    {"inversion", "which locks are open to priority inversion", experiment_inversion},
    {"response", "response time of each way to wake or tell a task", experiment_response},
    {"interrupt", "timer expiry to its handler, and to the task", experiment_interrupt},
    {"timerlat", "the same, of a thread of the kernel, by its tracer", experiment_timerlat},
    {"kernel", "interrupt, period, response in kernel space", experiment_kernel},
    {"taskset", "a set of periodic tasks that share CPUs", experiment_taskset},
    {"tire", "a simulated tire, in real time or as fast as it goes", experiment_tire},
    {"clock", "cost and resolution of each clock", experiment_clock},
    {"middleware-throughput", "operations per second of an ORB and others", experiment_middleware_throughput},
    {"middleware-latency", "an urgent client beside less urgent ones", experiment_middleware_latency},
    {"middleware-footprint", "memory of a server with its servants", experiment_middleware_footprint},
    {"middleware-serve", "servants for a client elsewhere", middleware_serve},
    {"load", "a background load, bounded and self-ending", load_main},
    {"guard", "runs a command as long as somebody speaks", guard_main},
    {"keep", "reads and changes settings, and puts them back", keep_main},
    {"services", "what this system offers, and what it does not", list_services},
};

static int list_services(int argc, char **argv)
{
    static const char *const words[] = {
        [OS_ABSENT] = "N/A", [OS_DENIED] = "denied", [OS_NOT_REALTIME] = "not real-time", [OS_PRESENT] = "yes"};
    if (argc > 0) {
        return refuse(EXIT_USAGE, "%s: 'services' takes no options.", argv[0]);
    }
    for (int service = 0; service < OS_SERVICE_COUNT; service++) {
        const struct os_answer answer = os_service_available((enum os_service)service);
        print("%-42s %-14s %s\n", os_service_name((enum os_service)service), words[answer.availability], answer.why);
    }
    return EXIT_MEASURED;
}

/* They do to the system what their caller asks for: with the caller's own rights, not with those of the program's file. */
static bool acts_for_caller(const struct command *command)
{
    return command->run == keep_main || command->run == guard_main || command->run == experiment_timerlat;
}

static int run(const struct command *command, int argc, char **argv)
{
    const bool gives_back = acts_for_caller(command) || os_rights_are_of_another();
    const enum os_status status = gives_back ? os_rights_give_back() : OS_OK;
    return status == OS_OK ? command->run(argc, argv)
                           : refuse(EXIT_NOT_PERMITTED,
                                    "%s: this file's rights (setcap) can't be given back: %s.",
                                    command->name, os_status_text(status));
}

static void print_help(void)
{
    print("usage: tauto-probe COMMAND [options]\n\n"
           "Takes time stamps on the machine under test. Alone it prints a table; with --out it writes a sample stream\n"
           "that 'tauto' reads.\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        print("  %-21s %s\n", commands[i].name, commands[i].summary);
    }
    print("\n'tauto-probe COMMAND --help' shows its options. Exit codes: 0 measured, 1 failed while measuring, 2 usage,\n"
           "3 not permitted.\n");
}

static int run_named(int argc, char **argv)
{
    if (argc < 2) {
        print_help();
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return EXIT_MEASURED;
    }
    if (strcmp(argv[1], "--version") == 0) {
        print("tauto-probe %s\n", TAUTO_VERSION);
        return EXIT_MEASURED;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return run(&commands[i], argc - 2, argv + 2);
        }
    }
    return refuse(EXIT_USAGE, "%s: no such command.\n'tauto-probe --help' lists them.", argv[1]);
}

int main(int argc, char **argv)
{
    return after_printing(run_named(argc, argv));
}
