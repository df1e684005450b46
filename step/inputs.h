/*
 * What goes into each step, as tauto prepared it (docs/step.md, "Inputs and outputs"): one row of numbers for each step, so
 * that nothing is searched for while it is measured. The last row holds for all steps after it.
 */
#ifndef TAUTO_STEP_INPUTS_H
#define TAUTO_STEP_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tautochrone_step.h"

enum { STEP_SIGNALS_LIMIT = 64 };

struct step_inputs {
    uint32_t columns; /* 0: nothing goes in */
    uint64_t rows;
    const double *values; /* row after row */
    const char *names[STEP_SIGNALS_LIMIT];
    uint32_t places[STEP_SIGNALS_LIMIT]; /* of each column, among the inputs of the code */
};

/* Reads the file. False: `why` has the reason. */
bool step_inputs_read(struct step_inputs *inputs, const char *path, char *why, size_t bytes);
/* Finds the inputs of the code that the columns are for. False: `why` has the reason. */
bool step_inputs_bind(struct step_inputs *inputs, const struct tautochrone_signals *signals, char *why, size_t bytes);

/* Before step k. */
static inline void step_inputs_set(const struct step_inputs *inputs, double *in, uint64_t k)
{
    const double *const row = inputs->values + (k < inputs->rows ? k : inputs->rows - 1) * inputs->columns;
    for (uint32_t i = 0; i < inputs->columns; i++) {
        in[inputs->places[i]] = row[i];
    }
}

/* "in0" where the code gives no name. */
void step_signal_name(char *name, size_t bytes, const char *const *names, const char *usual, uint32_t place);

#endif
