/*
 * Keeps CPU 0 in a guest with preemption or interrupts off, again and again: hold WHAT LENGTH_NS EVERY_NS TIMES.
 * In the end it says from when to when it did, a line for each.
 */
#define _GNU_SOURCE
#include "tautochrone.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 4096 };

int main(int count, char **words)
{
    static struct tautochrone_hold holds[MOST];
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    const int file = open(TAUTOCHRONE_DEVICE, O_RDWR | O_CLOEXEC);
    if (count != 5 || file < 0 || sched_setaffinity(0, sizeof first, &first) != 0) {
        perror("hold");
        return 1;
    }
    const long long length_ns = atoll(words[2]), every_ns = atoll(words[3]);
    const int times = atoi(words[4]) < MOST ? atoi(words[4]) : MOST;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int i = 0; i < times; i++) {
        const long long at = next.tv_nsec + every_ns;
        next = (struct timespec){.tv_sec = next.tv_sec + at / 1000000000, .tv_nsec = at % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        holds[i].what = strcmp(words[1], "interrupts") == 0 ? TAUTOCHRONE_INTERRUPTS_OFF : TAUTOCHRONE_PREEMPTION_OFF;
        holds[i].length_ns = length_ns;
        if (ioctl(file, TAUTOCHRONE_HOLD, &holds[i]) != 0) {
            perror("hold");
            return 1;
        }
    }
    for (int i = 0; i < times; i++) {
        printf("%lld %lld\n", (long long)holds[i].begin_ns, (long long)holds[i].end_ns);
    }
    return 0;
}
