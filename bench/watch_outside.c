/* What it costs to be watched from outside: `watch_outside CALLS` prints, in ns and in turn, a sleep that is refused (a true one
 * lasts as long as its timer), another system call, and a pair of probes. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 100, REST_US = 20000, WAIT_US = 500000 };

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    const long calls = argc > 1 ? atol(argv[1]) : 1000;
    const struct timespec none = {0, -1};
    usleep(WAIT_US); /* until somebody watches */
    for (int turn = 0; turn < TURNS; turn++) {
        const double begin_ns = now_ns();
        for (long i = 0; i < calls; i++) {
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &none, NULL);
        }
        const double slept_ns = now_ns();
        for (long i = 0; i < calls; i++) {
            syscall(SYS_getppid);
        }
        const double called_ns = now_ns();
        for (long i = 0; i < calls; i++) {
            DTRACE_PROBE1(bench, begin, i);
            DTRACE_PROBE(bench, end);
        }
        const double probed_ns = now_ns();
        fprintf(stderr, "%.1f %.1f %.1f\n", (slept_ns - begin_ns) / (double)calls, (called_ns - slept_ns) / (double)calls,
                (probed_ns - called_ns) / (double)calls);
        usleep(REST_US); /* the ring is read meanwhile */
    }
    return 0;
}
