/* The table of what a middleware program can do. */
#include "latency.h"
#include "footprint.h"
#include "server.h"
#include "throughput.h"

#include "message.h"
#include "os/rights.h"

#include <string.h>

struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
    {"throughput", "operations per second by type, at full speed", throughput_main},
    {"latency", "a periodic client above others, each at a priority of its own", latency_main},
    {"footprint", "memory of the server with its servants", footprint_main},
    {"serve", "the servants, for a client elsewhere", server_main},
};

static void print_help(void)
{
    print("usage: tauto-middleware-%s COMMAND [options]\n\n%s under test. `tauto-probe middleware-COMMAND --transport %s` "
          "starts it.\n\n",
          the_transport.name, the_transport.title, the_transport.name);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        print("  %-12s %s\n", commands[i].name, commands[i].summary);
    }
}

/* For `tauto-probe middleware-… --transports`, which says what is wrong. */
static int print_present(void)
{
    const bool has_own = the_transport.version != NULL;
    return print("%s yes%s%s\n", the_transport.name, has_own ? " " : "", has_own ? the_transport.version() : "")
               ? EXIT_MEASURED
               : EXIT_FAILED;
}

static int print_version(void)
{
    const bool has_own = the_transport.version != NULL;
    print("tauto-middleware-%s %s%s%s\n", the_transport.name, TAUTO_VERSION, has_own ? " " : "",
          has_own ? the_transport.version() : "");
    return EXIT_MEASURED;
}

static int run_named(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0) {
        print_help();
        return argc < 2 ? EXIT_USAGE : EXIT_MEASURED;
    }
    if (strcmp(argv[1], "--version") == 0) {
        return print_version();
    }
    if (strcmp(argv[1], "--present") == 0) {
        return print_present();
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(argc - 2, argv + 2);
        }
    }
    return refuse(EXIT_USAGE, "%s: no such command.\n'tauto-middleware-%s --help' lists them.", argv[1],
                  the_transport.name);
}

int main(int argc, char **argv)
{
    /* Its server is this file too, and does the same. */
    const enum os_status status = os_rights_are_of_another() ? os_rights_give_back() : OS_OK;
    return status == OS_OK ? after_printing(run_named(argc, argv))
                           : refuse(EXIT_NOT_PERMITTED, "this file's rights (set-user-ID) can't be given back: %s.",
                                    os_status_text(status));
}
