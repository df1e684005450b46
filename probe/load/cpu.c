/* Floating point and integer arithmetic that keeps a CPU busy and out of memory. */
#include "load/load.h"

enum { STEPS_PER_ROUND = 20000 };

static double round_of_arithmetic(double value, uint64_t *bits)
{
    for (int step = 0; step < STEPS_PER_ROUND; step++) {
        value = value * 1.0000001 + 1.0 / (value + 2.0);
        *bits ^= *bits << 13;
        *bits ^= *bits >> 7;
        *bits ^= *bits << 17;
    }
    return value > 1e6 ? 1.0 : value;
}

static void work(struct load_thread *thread)
{
    uint64_t bits = 0x9e3779b97f4a7c15U + (uint64_t)thread->cpu;
    volatile double kept = 1.0; /* the result counts, so the work may not be left out */
    while (!load_must_end(thread)) {
        kept = round_of_arithmetic(kept, &bits) + (double)(bits & 1U) * 1e-9;
        thread->operations += STEPS_PER_ROUND;
    }
}

const struct load load_cpu = {
    .name = "cpu",
    .summary = "arithmetic on every chosen CPU",
    .unit = "steps of arithmetic",
    .work = work,
};
