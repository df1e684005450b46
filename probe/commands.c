#include "commands.h"

#include "message.h"

#include <string.h>

static void print_help(const struct program *program)
{
    print("usage: %s COMMAND [options]\n\n%s\n\n", program->name, program->about);
    for (size_t i = 0; i < program->count; i++) {
        print("  %-21s %s\n", program->commands[i].name, program->commands[i].summary);
    }
    print("\n'%s COMMAND --help' shows its options. Exit codes: %s.\n", program->name, program->exit_codes);
}

int program_run(const struct program *program, int argc, char **argv)
{
    if (argc < 2) {
        print_help(program);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(program);
        return EXIT_MEASURED;
    }
    if (strcmp(argv[1], "--version") == 0) {
        print("%s %s\n", program->name, TAUTO_VERSION);
        return EXIT_MEASURED;
    }
    for (size_t i = 0; i < program->count; i++) {
        if (strcmp(argv[1], program->commands[i].name) == 0) {
            return program->commands[i].run(argc - 2, argv + 2);
        }
    }
    return refuse(EXIT_USAGE, "%s: no such command.\n'%s --help' lists them.", argv[1], program->name);
}
