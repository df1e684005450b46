/*
 * Kinds of arithmetic for the load `cpu`. Each is a pure function of its seed and takes some to some tens of
 * microseconds; its result depends on all of its work, so that nothing of it may be left out.
 */
#ifndef TAUTO_LOAD_CPU_METHODS_H
#define TAUTO_LOAD_CPU_METHODS_H

#include <stddef.h>
#include <stdint.h>

struct cpu_method {
    const char *name;
    uint64_t (*compute)(uint64_t seed);
};

/* Floating point; integers. They end with a name that is NULL. */
extern const struct cpu_method cpu_floating[];
extern const struct cpu_method cpu_integers[];

#endif
