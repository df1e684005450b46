/* A loop of 1 kHz that `tauto watch` measures:
 *
 *     tauto watch --header c > tautochrone_loop.h
 *     cc -O2 -I. -o controller controller.c
 *     tauto watch --rate 1kHz -- ./controller
 */
#include "tautochrone_loop.h"

#include <stdio.h>

enum { PERIOD_NS = 1000000, NS_PER_S = 1000000000 };

static double control(double position)
{
    static double integral;
    integral += 0.001 * (1.0 - position);
    return 2.0 * (1.0 - position) + 5.0 * integral;
}

int main(int argc, char **argv)
{
    const uint64_t cycles = argc > 1 ? strtoull(argv[1], NULL, 10) : UINT64_MAX;
    double position = 0.0;
    TAUTO_LOOP("control");
    struct timespec release;
    clock_gettime(CLOCK_MONOTONIC, &release);
    for (uint64_t k = 0; k < cycles; k++) {
        release.tv_nsec += PERIOD_NS;
        if (release.tv_nsec >= NS_PER_S) {
            release.tv_nsec -= NS_PER_S;
            release.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &release, NULL);
        TAUTO_BEGIN_AT(k, (int64_t)release.tv_sec * NS_PER_S + release.tv_nsec);
        position += 0.001 * control(position);
        TAUTO_END(k);
    }
    printf("position %.3f\n", position);
    return 0;
}
