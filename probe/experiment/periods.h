/* A list of periods, as people write it: 10ms,30ms,50ms. One row of an experiment for each. */
#ifndef TAUTO_PERIODS_H
#define TAUTO_PERIODS_H

#include <stdbool.h>
#include <stdint.h>

enum { PERIODS_LIMIT = 16, PERIOD_TEXT_BYTES = 24 };

struct periods {
    const char *text; /* --periods */
    int64_t ns[PERIODS_LIMIT];
    uint32_t count;
};

/* Reads `text`; no period is shorter than `shortest_ns`, in words `shortest`. False after telling what is wrong. */
bool periods_read(struct periods *periods, int64_t shortest_ns, const char *shortest);

/* "10 ms": exact, in the largest unit that leaves a whole number. */
void period_to_text(char text[PERIOD_TEXT_BYTES], int64_t period_ns);

#endif
