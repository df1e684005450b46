/*
 * Your code in a real-time loop that `tauto step lib.so:NAME` measures. Write NAME_step, and the others if you need them:
 *
 *     cc -O2 -shared -fPIC -o lib.so controller.c
 *     tauto step lib.so:controller --rate 1kHz --cpus 1
 *
 * All of them are called by one thread, in a process of its own. Only NAME_step is measured; a function that is called NAME
 * alone is taken for it. What Simulink's Embedded Coder writes (NAME_initialize, NAME_step, NAME_terminate, without
 * arguments) needs no line of yours.
 */
#ifndef TAUTOCHRONE_STEP_H
#define TAUTOCHRONE_STEP_H

#include <stdint.h>

#ifdef __cplusplus
#define TAUTOCHRONE_C extern "C"
#else
#define TAUTOCHRONE_C extern
#endif

/* What goes in and out of each step, at most 64 values of each; by position and by name. */
struct tautochrone_signals {
    uint32_t inputs, outputs;
    double *in;        /* written before each step, from outside; never while a step runs */
    const double *out; /* read after it */
    const char *const *input_names, *const *output_names; /* NULL: in0, in1, ...; out0, out1, ... */
};

/* Declares the functions: TAUTOCHRONE_STEP(controller)
 *
 * NAME_init     optional. Before the first step, without a deadline. Returns what the others get as `context`; NULL: it failed.
 * NAME_step     once in each period. `k` counts the releases from 0 on, those of the warm-up too; a missed one leaves its
 *               number out. `t_ns` is k times the period. Returns 0; anything else ends the run and is told.
 * NAME_signals  optional. Once, after NAME_init: it says where the values are that go in and out of each step.
 * NAME_end      optional. After the last step. */
#define TAUTOCHRONE_STEP(NAME)                                                                \
    TAUTOCHRONE_C void *NAME##_init(void);                                                    \
    TAUTOCHRONE_C int NAME##_step(void *context, uint64_t k, int64_t t_ns);                   \
    TAUTOCHRONE_C void NAME##_signals(void *context, struct tautochrone_signals *signals);    \
    TAUTOCHRONE_C void NAME##_end(void *context);

#endif
