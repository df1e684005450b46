/* Clocks: clock_gettime(2). */
#include "os/os.h"

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

int64_t os_wall_clock_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

int64_t os_time_since_boot_ns(void)
{
#ifdef CLOCK_BOOTTIME
    return read_ns(CLOCK_BOOTTIME);
#else
    return INT64_MIN;
#endif
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
