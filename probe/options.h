/* Reading a command line from a table of options. Every problem is told once, with what to write instead. */
#ifndef TAUTO_OPTIONS_H
#define TAUTO_OPTIONS_H

#include "quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,     /* bool: takes no value, sets true */
    OPTION_DURATION, /* int64_t nanoseconds, written with a unit: 250us, 1ms, 10s, 2h */
    OPTION_PERIOD,   /* int64_t nanoseconds, written as a duration or as a rate: 1ms, 1kHz */
    OPTION_RATE,     /* int64_t Hz > 0, or 0 as a number alone: 500, 1kHz, 2ms */
    OPTION_COUNT,    /* int64_t >= 0 */
    OPTION_SIZE,     /* int64_t bytes >= 0: 65536, 64kB, 64KiB, 1.5GiB */
    OPTION_CHOICE,   /* int: index into `choices` */
    OPTION_TEXT,     /* const char * */
    OPTION_GROUP,    /* struct option_group_at: all of its rows, see OPTIONS_OF */
};

struct option {
    const char *name; /* without the dashes */
    enum option_kind kind;
    void *target;
    const char *const *choices; /* ends with NULL */
    const char *help;
    bool given;
};

/* Rows that several commands share are there once, with targets in `form`: those of a command lie at the same places of
 * its own `target`. */
struct option_group {
    const struct option *rows;
    size_t count;
    const void *form;
};
struct option_group_at {
    const struct option_group *group;
    void *target;
};
#define OPTIONS_OF(group, target) {NULL, OPTION_GROUP, &(struct option_group_at){&(group), target}, NULL, NULL, false}

/* Reads argv[0 … argc-1] (no program name) into the targets. False when something was wrong, after telling it;
 * `wants_help` when --help stood there. */
bool options_read(const struct option *options, size_t count, int argc, char **argv, bool *wants_help);
/* The same for a whole command: --help prints `usage` and the table. True to go on, otherwise `code` is the program's
 * exit code; EXIT_USAGE stands there already for what is refused next. */
bool options_read_or_help(const struct option *options, size_t count, int argc, char **argv, const char *usage, int *code);
/* Was it on the command line that was read last? */
bool options_given(const char *name);
/* Does the command have it that was read last? */
bool options_known(const char *name);

enum { CPU_LIST_LIMIT = 1024 };
struct cpu_list {
    int32_t cpus[CPU_LIST_LIMIT];
    uint32_t count;
};
/* "0,2-3", "all" (every CPU that this process runs on), "any" (one thread that may run anywhere). Every CPU is
 * checked to be on line and allowed. Returns an exit code, 0 when all is well; problems are told. */
int cpu_list_read(struct cpu_list *list, const char *text);
/* The same for another option than --cpus. */
int cpu_list_read_option(struct cpu_list *list, const char *option, const char *text);
/* Ascending CPUs as people write them: "0,2-3"; as many as fit. */
enum { CPU_LIST_TEXT_BYTES = 1024 };
void cpu_list_to_text(const struct cpu_list *list, char text[CPU_LIST_TEXT_BYTES]);

#endif
