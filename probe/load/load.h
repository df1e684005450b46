/*
 * Background loads: named, bounded, self-ending. `tauto-probe load NAME` says "running" on standard output when
 * its threads work, and at the end what it really did, each as one line of JSON. It ends after its time, on a
 * signal, or when standard input ends, so that it never outlives whoever started it.
 */
#ifndef TAUTO_LOAD_H
#define TAUTO_LOAD_H

#include "options.h"
#include "os/os.h"

struct load_options {
    int64_t duration_ns;
    int64_t bytes; /* in all, memory only; 0: a quarter of a GiB */
    struct cpu_list cpus;

    /* Real-time loads only. */
    int64_t tasks; /* in all, spread over the CPUs */
    int64_t period_ns;
    int64_t work_ns;  /* of each task in each period */
    int64_t priority; /* the system's own number */
    int32_t below_highest;
};

/* Shared by the threads of one load. `operations` counts what `unit` names. */
struct load_thread {
    const struct load_options *options;
    int32_t cpu;
    int64_t until_ns;
    uint64_t operations;
    int64_t cpu_time_ns;
    struct os_thread *thread;
};

struct load {
    const char *name;
    const char *summary;
    const char *unit;
    bool real_time; /* policy fifo, and `tasks` threads; otherwise ordinary, and one for each CPU */
    int (*check)(const struct load_options *options); /* an exit code, refusals are told; NULL: nothing to check */
    void (*work)(struct load_thread *thread);         /* until load_must_end() */
};

extern const struct load load_cpu;
extern const struct load load_memory;
extern const struct load load_tasks;

bool load_must_end(const struct load_thread *thread);

/* The command. Returns the exit code of the program. */
int load_main(int argc, char **argv);

#endif
