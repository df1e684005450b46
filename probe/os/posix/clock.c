/* Clocks and sleeping: clock_gettime(2), clock_nanosleep(2). */
#include "status.h"

#include <errno.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

struct named_clock {
    const char *name;
    clockid_t id;
};

static const struct named_clock clocks[] = {
    {"monotonic", CLOCK_MONOTONIC},
    {"realtime", CLOCK_REALTIME},
#ifdef CLOCK_MONOTONIC_RAW
    {"monotonic-raw", CLOCK_MONOTONIC_RAW},
#endif
#ifdef CLOCK_BOOTTIME
    {"boottime", CLOCK_BOOTTIME},
#endif
#ifdef CLOCK_TAI
    {"tai", CLOCK_TAI},
#endif
#ifdef CLOCK_MONOTONIC_COARSE
    {"monotonic-coarse", CLOCK_MONOTONIC_COARSE},
#endif
    {"process-cpu", CLOCK_PROCESS_CPUTIME_ID},
    {"thread-cpu", CLOCK_THREAD_CPUTIME_ID},
};

static int64_t read_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t os_now_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t os_wall_clock_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

int64_t os_thread_cpu_time_ns(void)
{
    struct timespec used;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) {
        return INT64_MIN;
    }
    return (int64_t)used.tv_sec * NS_PER_S + used.tv_nsec;
}

size_t os_clock_count(void)
{
    return sizeof clocks / sizeof clocks[0];
}

const char *os_clock_name(size_t clock)
{
    return clocks[clock].name;
}

int64_t os_clock_read_ns(size_t clock)
{
    return read_ns(clocks[clock].id);
}

int64_t os_clock_resolution_ns(size_t clock)
{
    struct timespec resolution;
    if (clock_getres(clocks[clock].id, &resolution) != 0) {
        return 0;
    }
    return (int64_t)resolution.tv_sec * NS_PER_S + resolution.tv_nsec;
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
    const struct timespec instant = to_timespec(instant_ns);
    const int error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, NULL);
    return error == 0 ? OS_OK : os_status_from_errno(error);
}
