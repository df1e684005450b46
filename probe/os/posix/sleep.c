/* The measuring clock, and sleeping by it: clock_gettime(2), clock_nanosleep(2). */
#include "os/realtime.h"

#include <time.h>

enum { NS_PER_S = 1000000000 };

int64_t os_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static struct timespec to_timespec(int64_t instant_ns)
{
    return (struct timespec){
        .tv_sec = (time_t)(instant_ns / NS_PER_S),
        .tv_nsec = (long)(instant_ns % NS_PER_S),
    };
}

int64_t os_sleep_until_and_read(int64_t instant_ns)
{
    const struct timespec instant = to_timespec(instant_ns);
    struct timespec now;
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}
