/*
 * The experiments that are programs of their own, installed beside this one: those with middleware, tauto-middleware-NAME
 * for each transport, tauto-step, tauto-selftest. One goes on in this one's place with the same options.
 */
#include "experiment/experiment.h"

#include "format.h"
#include "message.h"
#include "os/process.h"

#include <string.h>

enum { NAME_BYTES = 64, NAMES_BYTES = 128, PATH_BYTES = 4096 };

static const char place[] = "TAUTO_MIDDLEWARE";
static const char name_option[] = "--transport";

struct known {
    const char *name;
    const char *packages; /* of Debian, to build it; NULL: it needs none */
};

static const struct known transports[] = {
    {"tcp", NULL},
    {"udp", NULL},
    {"unix", NULL},
    {"zeromq", "libzmq3-dev"},
    {"cyclonedds", "cyclonedds-dev cyclonedds-tools"},
    {"omniorb", "omniidl libomniorb4-dev g++"},
};
enum { TRANSPORTS = sizeof transports / sizeof transports[0] };

static void program_of(char name[NAME_BYTES], const char *transport)
{
    format_text(name, NAME_BYTES, "tauto-middleware-%s", transport);
}

/* "tcp, udp, unix" */
static const char *names(void)
{
    static char text[NAMES_BYTES];
    size_t at = 0;
    for (size_t i = 0; i < TRANSPORTS; i++) {
        at += format_text(text + at, sizeof text - at, "%s%s", i > 0 ? ", " : "", transports[i].name);
    }
    return text;
}

/* Why there is none, and what to do about it. */
static int refuse_transport(const char *name, enum os_status status)
{
    for (size_t i = 0; i < TRANSPORTS; i++) {
        if (strcmp(name, transports[i].name) != 0) {
            continue;
        }
        if (status != OS_NOT_FOUND) {
            return refuse(EXIT_FAILED, "--transport %s: it can't be started: %s.", name, os_status_text(status));
        }
        if (transports[i].packages == NULL) {
            return refuse(EXIT_USAGE, "--transport %s: it is not there, since tauto-middleware-%s was not built.\n"
                                      "Run `make setup` in the source folder.",
                          name, name);
        }
        return refuse(EXIT_USAGE, "--transport %s: it is not there, since its library was not when this was built.\n"
                                  "On Debian, install %s, then run `make setup` in the source folder.",
                      name, transports[i].packages);
    }
    return refuse(EXIT_USAGE, "--transport %s: it is not known.\nThere are %s.", name, names());
}

/* A line for each: "tcp yes", "omniorb yes 4.2.5" as the program says it, or "omniorb no" and the packages to install. */
static int list_transports(void)
{
    for (size_t i = 0; i < TRANSPORTS; i++) {
        char name[NAME_BYTES];
        char path[PATH_BYTES];
        char word[] = "--present";
        int code = EXIT_FAILED;
        program_of(name, transports[i].name);
        if (os_program_find(place, name, path, sizeof path) == OS_OK) {
            char *argv[] = {path, word, NULL};
            code = os_program_ask(path, argv);
        }
        if (code != EXIT_MEASURED) {
            const char *const packages = transports[i].packages;
            print("%s no%s%s\n", transports[i].name, packages != NULL ? " " : "", packages != NULL ? packages : "");
        }
    }
    return EXIT_MEASURED;
}

/* Takes `--transport NAME` or `--transport=NAME` out of the words; NULL where it is not there. */
static const char *take_transport(int *argc, char **argv)
{
    const size_t length = strlen(name_option);
    for (int i = 0; i < *argc; i++) {
        const bool joined = strncmp(argv[i], name_option, length) == 0 && argv[i][length] == '=';
        const bool apart = strcmp(argv[i], name_option) == 0 && i + 1 < *argc;
        if (joined || apart) {
            const char *const name = joined ? argv[i] + length + 1 : argv[i + 1];
            const int words = joined ? 1 : 2;
            memmove(&argv[i], &argv[i + words], (size_t)(*argc - i - words) * sizeof *argv);
            *argc -= words;
            return name;
        }
    }
    return NULL;
}

static bool has_word(int argc, char **argv, const char *word)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* In this program's place goes on the one of that name, with `command` and the options behind it; `argv` has two words
 * before them, which main was called with. Returns only with the reason why it can't. */
static enum os_status go_on_as(const char *folder, const char *program, char *command, char **argv)
{
    char name[NAME_BYTES];
    format_text(name, sizeof name, "%s", program);
    argv[-2] = name;
    argv[-1] = command;
    return os_process_become(folder, name, argv - 2);
}

int experiment_middleware(int argc, char **argv)
{
    if (has_word(argc, argv, "--transports")) {
        return list_transports();
    }
    const char *transport = take_transport(&argc, argv);
    if (transport == NULL) {
        if (!has_word(argc, argv, "--help")) {
            return refuse(EXIT_USAGE, "name a transport: --transport tcp.\n"
                                      "There are %s; --transports lists which of them are "
                                      "built here.",
                          names());
        }
        transport = transports[0].name; /* they all have the same options */
    }
    char name[NAME_BYTES];
    program_of(name, transport);
    argv[argc] = NULL;
    return refuse_transport(transport, go_on_as(place, name, argv[-1] + sizeof "middleware-" - 1, argv));
}

/* A program that is installed beside this one, or not. */
static int become(const char *folder, const char *program, char **argv)
{
    const enum os_status status = go_on_as(folder, program, argv[-1], argv);
    return status == OS_NOT_FOUND ? refuse(EXIT_USAGE, "%s: %s is not beside this probe.\nInstall tautochrone on this machine.",
                                           argv[-1], program)
                                  : refuse(EXIT_FAILED, "%s can't be started: %s.", program, os_status_text(status));
}

int experiment_step(int argc, char **argv)
{
    (void)argc;
    return become("TAUTO_STEP", "tauto-step", argv);
}

int experiment_selftest(int argc, char **argv)
{
    (void)argc;
    return become("TAUTO_SELFTEST", "tauto-selftest", argv);
}
