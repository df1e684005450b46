/* What a background program asks of the system for itself: sched_setaffinity(2), setpriority(2), sched_setscheduler(2),
 * mlockall(2), and to be the first or the last to go when memory runs out (proc_pid_oom_score_adj(5)). */
#define _GNU_SOURCE
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SETS = 4 }; /* cpu_set_t alone ends at 1,024 CPUs */

enum os_status os_thread_keep_to(const int32_t *cpus, uint32_t count)
{
    cpu_set_t wanted[SETS];
    memset(wanted, 0, sizeof wanted);
    for (uint32_t i = 0; i < count; i++) {
        CPU_SET_S((size_t)cpus[i], sizeof wanted, wanted);
    }
    return sched_setaffinity(0, sizeof wanted, wanted) == 0 ? OS_OK : os_status_from_errno(errno);
}

void os_thread_give_way(int32_t nice)
{
    (void)setpriority(PRIO_PROCESS, 0, nice); /* of this thread, on Linux; giving way is always permitted */
}

static void set_oom_score(const char *score, size_t length)
{
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        (void)!write(file, score, length); /* raising it is always permitted */
        close(file);
    }
}

void os_memory_end_first(void)
{
    static const char highest[] = "1000";
    set_oom_score(highest, sizeof highest - 1);
}

void os_stand_firm(void)
{
    static const char never[] = "-1000";
    const struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    (void)sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
    (void)mlockall(MCL_CURRENT); /* not what comes: reading large files must not hit a limit */
    set_oom_score(never, sizeof never - 1);
}
