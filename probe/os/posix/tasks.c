#include "os/tasks.h"

#include "proc_stat.h"

#include <unistd.h>

/* include/linux/sched.h; shown in /proc/PID/stat since 2.6 and unchanged since. */
static const uint64_t flag_kernel_thread = 0x00200000;

bool os_task_start(int64_t number, uint64_t *start, bool *of_kernel)
{
    struct proc_stat stat;
    if (!proc_stat_read(&stat, (pid_t)number, (pid_t)number) || proc_stat_has_ended(&stat)) {
        return false;
    }
    *start = stat.start_ticks;
    if (of_kernel != NULL) {
        *of_kernel = (stat.flags & flag_kernel_thread) != 0;
    }
    return true;
}

int64_t os_own_process(void)
{
    return getpid();
}
