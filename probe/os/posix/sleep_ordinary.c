/* The ordinary side sleeps as the real-time one does: clock_nanosleep(2). */
#include "status.h"

#include <time.h>

enum { NS_PER_S = 1000000000 };

enum os_status os_sleep_until(int64_t instant_ns)
{
    const struct timespec instant = {.tv_sec = (time_t)(instant_ns / NS_PER_S), .tv_nsec = (long)(instant_ns % NS_PER_S)};
    const int error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, NULL);
    return error == 0 ? OS_OK : os_status_from_errno(error);
}
