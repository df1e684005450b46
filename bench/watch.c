/* What the marks of a loop cost: `watch STEPS` prints pairs of marks, and pairs of readings of the clock, in ns, in turn. */
#include "tautochrone_loop.h"

#include <stdio.h>

enum { TURNS = 20, REST_US = 20000 };

static double ns_each(int64_t begin_ns, uint64_t steps)
{
    return (double)(tautochrone_now_ns() - begin_ns) / (double)steps;
}

int main(int argc, char **argv)
{
    const uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    uint64_t k = 0;
    TAUTO_LOOP("bench");
    for (int turn = 0; turn < TURNS; turn++) {
        int64_t begin_ns = tautochrone_now_ns();
        for (const uint64_t until = k + steps; k < until; k++) {
            TAUTO_BEGIN(k);
            TAUTO_END(k);
        }
        const double marks_ns = ns_each(begin_ns, steps);
        struct timespec now;
        begin_ns = tautochrone_now_ns();
        for (uint64_t i = 0; i < 2 * steps; i++) {
            clock_gettime(CLOCK_MONOTONIC, &now);
        }
        fprintf(stderr, "%.2f %.2f\n", marks_ns, ns_each(begin_ns, steps));
        usleep(REST_US); /* the ring is read meanwhile */
    }
    return 0;
}
