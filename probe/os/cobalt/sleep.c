/*
 * The measuring clock, and sleeping by it. A measuring thread sleeps on Cobalt's clock, as the wrapped clock_nanosleep(2) does. The ordinary side sleeps on
 * Linux's, for as long as it is until then: the two need not read the same, and Linux's own threads may not wait on Cobalt's.
 */
#include "os/posix/status.h"

#include <errno.h>
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

enum os_status os_sleep_until(int64_t instant_ns)
{
    const int64_t left_ns = instant_ns - os_now_ns();
    const struct timespec left = to_timespec(left_ns);
    return left_ns <= 0 || __STD(nanosleep(&left, NULL)) == 0 ? OS_OK : os_status_from_errno(errno);
}
