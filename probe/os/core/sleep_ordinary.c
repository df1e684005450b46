/*
 * The ordinary side sleeps on Linux's clock, for as long as it is until then: a core's need not read the same, and Linux's own
 * threads may not wait on it. Measuring threads sleep as the port's other file says.
 */
#include "os/posix/status.h"

#include <errno.h>
#include <time.h>

#ifndef __STD /* Cobalt: of calls that it wraps, the one of Linux */
#define __STD(call) call
#endif

enum { NS_PER_S = 1000000000 };

enum os_status os_sleep_until(int64_t instant_ns)
{
    const int64_t left_ns = instant_ns - os_now_ns();
    const struct timespec left = {.tv_sec = (time_t)(left_ns / NS_PER_S), .tv_nsec = (long)(left_ns % NS_PER_S)};
    return left_ns <= 0 || __STD(nanosleep(&left, NULL)) == 0 ? OS_OK : os_status_from_errno(errno);
}
