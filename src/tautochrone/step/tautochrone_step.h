/*
 * Your code in a real-time loop that `tauto step lib.so:NAME` measures. Write NAME_step, and the others if you need them:
 *
 *     cc -O2 -shared -fPIC -o lib.so controller.c       (include this file in C++, too: it has the C names)
 *     tauto step lib.so:controller --rate 1kHz --cpus 1
 *
 * All are called by one thread, which init's caller keeps: its CPU, its priority, its locked memory. Only NAME_step is
 * measured. A function that is called NAME alone is taken for NAME_step. What Simulink's Embedded Coder writes
 * (NAME_initialize, NAME_step, NAME_terminate, without arguments) needs no line of yours.
 */
#ifndef TAUTOCHRONE_STEP_H
#define TAUTOCHRONE_STEP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Declares them: TAUTOCHRONE_STEP(controller) */
#define TAUTOCHRONE_STEP(NAME)                                                                                        \
    /* Optional. Before the first step, without a deadline. Returns what the others get as `context`; NULL: it failed. */ \
    void *NAME##_init(void);                                                                                          \
    /* Once in each period. `k` counts the releases from 0 on, those of the warm-up too; where one is missed, its number  \
     * is left out. `t_ns` is k times the period. Returns 0, or what is told to the user when it ends the run. */          \
    int NAME##_step(void *context, uint64_t k, int64_t t_ns);                                                         \
    /* Optional. After the last step. */                                                                              \
    void NAME##_end(void *context);

#ifdef __cplusplus
}
#endif

#endif
