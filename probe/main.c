/* The table of what the probe can do. */
#include "commands.h"
#include "experiment/experiment.h"
#include "message.h"
#include "os/os.h"
#include "os/rights.h"

#include <string.h>

static int list_services(int argc, char **argv);
static int timerlat(int argc, char **argv);

static const struct command commands[] = {
    {"cyclic", "scheduling latency of periodic threads", experiment_cyclic},
    {"period", "error of the period of a periodic task", experiment_period},
    {"switch", "context switch: yield, and a mutex handed over", experiment_switch},
    {"rhealstone", "the six times of the Rhealstone benchmark", experiment_rhealstone},
    {"inversion", "which locks are open to priority inversion", experiment_inversion},
    {"response", "response time of each way to wake or tell a task", experiment_response},
    {"interrupt", "timer expiry to its handler, and to the task", experiment_interrupt},
    {"timerlat", "the same, of a thread of the kernel, by its tracer", timerlat},
    {"kernel", "interrupt, period, response in kernel space", experiment_kernel},
    {"taskset", "a set of periodic tasks that share CPUs", experiment_taskset},
    {"tire", "a simulated tire, in real time or as fast as it goes", experiment_tire},
    {"step", "your own code in the loop", experiment_step},
    {"watch", "a program of yours that marks its loops", experiment_step},
    {"clock", "cost and resolution of each clock", experiment_clock},
    {"middleware-throughput", "operations per second of an ORB and others", experiment_middleware},
    {"middleware-latency", "a high-priority client beside lower-priority ones", experiment_middleware},
    {"middleware-footprint", "memory of a server with its servants", experiment_middleware},
    {"middleware-serve", "servants for a client elsewhere", experiment_middleware},
    {"services", "what this system offers, and what it does not", list_services},
    {"selftest", "whether each of these does what is promised of it", experiment_selftest},
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

static int refuse_to_keep(enum os_status status)
{
    return refuse(EXIT_NOT_PERMITTED, "this file's rights (setcap) can't be given back: %s.", os_status_text(status));
}

/* It changes settings of the system: with its caller's own rights, not with those of the program's file. */
static int timerlat(int argc, char **argv)
{
    const enum os_status status = os_rights_give_back();
    return status == OS_OK ? experiment_timerlat(argc, argv) : refuse_to_keep(status);
}

static const struct program probe = {
    .name = "tauto-probe",
    .about = "Takes time stamps on the machine under test. Alone it prints a table; with --out it writes a sample stream\n"
             "that 'tauto' reads. Loads and the guard of settings are tauto-agent's.",
    .exit_codes = "0 measured, 1 failed while measuring, 2 usage,\n3 not permitted",
    .commands = commands,
    .count = sizeof commands / sizeof commands[0],
};

static bool is_of_agent(const char *command)
{
    static const char *const agents[] = {"load", "guard", "keep"};
    bool is_one = false;
    for (size_t i = 0; i < sizeof agents / sizeof agents[0]; i++) {
        is_one = is_one || strcmp(command, agents[i]) == 0;
    }
    return is_one;
}

int main(int argc, char **argv)
{
    const enum os_status status = os_rights_are_of_another() ? os_rights_give_back() : OS_OK;
    if (status != OS_OK) {
        return refuse_to_keep(status);
    }
    const char *why = "";
    if (os_system_begin(&why) != OS_OK) {
        return refuse(EXIT_FAILED, "%s", why);
    }
    if (argc > 1 && is_of_agent(argv[1])) {
        return refuse(EXIT_USAGE, "%s: this is a command of tauto-agent.\nRun 'tauto-agent %s', beside this program.",
                      argv[1], argv[1]);
    }
    return after_printing(program_run(&probe, argc, argv));
}
