/* Context switches of one thread: RUSAGE_THREAD of getrusage(2), which POSIX does not have. */
#define _GNU_SOURCE
#include "os/os.h"

#include <sys/resource.h>

void os_thread_switches(int64_t *voluntary, int64_t *involuntary)
{
    *voluntary = INT64_MIN;
    *involuntary = INT64_MIN;
#ifdef RUSAGE_THREAD
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) == 0) {
        *voluntary = usage.ru_nvcsw;
        *involuntary = usage.ru_nivcsw;
    }
#endif
}
