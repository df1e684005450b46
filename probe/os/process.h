/*
 * Other programs. What is started here never outlives its starter: when this process ends, however, so do they (on Linux
 * also after SIGKILL).
 */
#ifndef TAUTO_PROCESS_H
#define TAUTO_PROCESS_H

#include "os/os.h"

struct os_process;

struct os_process_attributes {
    char *const *argv;        /* argv[0] is looked up in PATH; ends with NULL */
    const char *const *joins; /* files that it writes "0" into before it begins, such as cgroup.procs; NULL: none */
    size_t join_count;
    size_t *failed_join; /* where not NULL: set to the place in `joins` of what refused; join_count: none of them did */
    int32_t cpu;    /* where it begins and may run, or OS_CPU_ANY: where the calling thread may */
    bool quiet;     /* its standard output goes nowhere */
    intptr_t errors; /* where its standard error goes, such as os_words_handle; 0: where this program's does */
    bool has_input; /* it reads what os_process_write writes; otherwise its standard input is empty */
};

/* OS_NOT_FOUND: no such program, unless a join is to blame. */
enum os_status os_process_start(struct os_process **process, const struct os_process_attributes *attributes);
/* All of it, or why not. A reader that went away is an error only after os_stop_listen. */
enum os_status os_process_write(struct os_process *process, const void *data, size_t bytes);
void os_process_close_input(struct os_process *process);

enum os_process_signal { OS_PROCESS_END, OS_PROCESS_KILL };
/* To it and to all that it started, wherever they went. Does not wait. */
void os_process_signal(struct os_process *process, enum os_process_signal signal);
/* Has it ended? Then `exit_code` is its own, or 128 and the number of the signal that ended it. Never blocks. */
bool os_process_has_ended(struct os_process *process, int *exit_code);
/* Sleeps until it has ended, this process was asked to stop (os_stop_requested), the instant has come or, with `input`,
 * until standard input has something to read or is at its end. */
void os_process_wait(const struct os_process *process, bool input, int64_t instant_ns);
/* CPU time of all children of this process that have ended and were waited for (of programs: at os_process_free). */
int64_t os_children_cpu_time_ns(void);
/* Ends what still runs of it and of all that it started, waits, frees it. */
void os_process_free(struct os_process *process);

/* This program ends, and the one of that name goes on in its place: from the folder that the environment variable `place`
 * names, or else from the folder of this program's own file. argv[0] is given as it stands. Returns only with the reason
 * why it can't. OS_NOT_FOUND: there is none. */
enum os_status os_process_become(const char *place, const char *name, char *const *argv);
/* Runs a short program of ours to its end: its exit code, or -1 where it did not end by itself. */
int os_program_ask(const char *path, char *const *argv);
/* Where that program is. OS_NOT_FOUND: there is none that may be started. */
enum os_status os_program_find(const char *place, const char *name, char *path, size_t bytes);

#endif
