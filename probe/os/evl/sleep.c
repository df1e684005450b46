/*
 * The measuring clock, and sleeping by it. EVL's monotonic clock is Linux's. A measuring thread sleeps out of band; the
 * ordinary side by clock_nanosleep(2).
 */
#include "os/realtime.h"

#include <evl/evl.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

static int64_t to_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}

static struct timespec to_timespec(int64_t instant_ns)
{
    return (struct timespec){
        .tv_sec = (time_t)(instant_ns / NS_PER_S),
        .tv_nsec = (long)(instant_ns % NS_PER_S),
    };
}

int64_t os_now_ns(void)
{
    struct timespec now;
    (void)evl_read_clock(EVL_CLOCK_MONOTONIC, &now);
    return to_ns(now);
}

int64_t os_sleep_until_and_read(int64_t instant_ns)
{
    const struct timespec instant = to_timespec(instant_ns);
    struct timespec now;
    (void)evl_sleep_until(EVL_CLOCK_MONOTONIC, &instant);
    (void)evl_read_clock(EVL_CLOCK_MONOTONIC, &now);
    return to_ns(now);
}
