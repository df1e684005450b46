/* A program as a table of commands. */
#ifndef TAUTO_COMMANDS_H
#define TAUTO_COMMANDS_H

#include <stddef.h>

struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv); /* without the names of program and command; returns an exit code */
};

struct program {
    const char *name;
    const char *about; /* whole lines, the last one without its end */
    const char *exit_codes;
    const struct command *commands;
    size_t count;
};

/* Runs the command that argv[1] names, or prints the help or the version. An exit code. */
int program_run(const struct program *program, int argc, char **argv);

#endif
