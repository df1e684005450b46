/*
 * RTAI in user space (LXRT): a real-time core beside Linux. A measuring thread registers itself as a task and makes itself
 * hard; a hard task that makes a call of Linux's is made soft for it, and nothing tells it so.
 */
#include "os/posix/domain.h"

#include "os/posix/linux.h"
#include "os/realtime.h"

#include <rtai_lxrt.h>
#include <string.h>
#include <unistd.h>

#ifndef RTAI_PROC
#define RTAI_PROC "/proc/rtai/scheduler"
#endif

enum { OF_MAIN = 1000, EVERY_CPU = 0xffff }; /* a priority below all that measure */

static void stop_timer(void)
{
    stop_rt_timer();
}

/* Without RTAI its calls are numbers that the kernel does not know: they return nonsense, and nothing says so. */
enum os_status os_system_begin(const char **why)
{
    *why = "";
    if (access(RTAI_PROC, F_OK) != 0) {
        *why = "this probe is for RTAI, and this kernel has none of its scheduler: " RTAI_PROC
               " is not there.\nBoot a kernel with RTAI and load rtai_sched, rtai_sem and rtai_mbx, or take the probe for Linux.";
        return OS_UNSUPPORTED;
    }
    if (rt_task_init_schmod(rt_get_name(NULL), OF_MAIN, 0, 0, SCHED_OTHER, EVERY_CPU) == NULL) {
        *why = "RTAI does not take this program as a task.\nRun as root, or load rtai_sched with what it needs for other users.";
        return OS_NOT_PERMITTED;
    }
    if (!rt_is_hard_timer_running()) {
        rt_set_oneshot_mode();
        start_rt_timer(0);
        (void)atexit(stop_timer);
    }
    return OS_OK;
}

void domain_facts_read(struct os_facts *facts)
{
    memcpy(facts->core, "RTAI", sizeof "RTAI");
}

bool domain_answers(enum os_service service, struct os_answer *answer)
{
    switch (service) {
    case OS_SERVICE_POLICY_DEADLINE:
        *answer = (struct os_answer){OS_ABSENT, "RTAI has no SCHED_DEADLINE"};
        return true;
    case OS_SERVICE_MUTEX_PROTECT:
        *answer = (struct os_answer){OS_ABSENT, "RTAI's resource semaphores inherit priority, and have no ceiling"};
        return true;
    case OS_SERVICE_RW_LOCK:
        *answer = (struct os_answer){OS_NOT_REALTIME, "a read-write lock is Linux's here: who waits for it becomes soft"};
        return true;
    case OS_SERVICE_FIFO:
        *answer = (struct os_answer){OS_NOT_REALTIME, "a pipe is Linux's: who waits for it becomes soft"};
        return true;
    case OS_SERVICE_THREAD_CPU_TIME:
        *answer = (struct os_answer){OS_ABSENT, "Linux does not see what a hard task uses, and RTAI counts it only where it was built to"};
        return true;
    case OS_SERVICE_INBAND_SWITCHES:
        *answer = (struct os_answer){OS_ABSENT, "RTAI tells no task that it was made soft"};
        return true;
    case OS_SERVICE_SUSPEND_RESUME:
        *answer = (struct os_answer){OS_PRESENT, ""};
        return true;
    default:
        return false;
    }
}

enum os_status os_thread_watch_inband(os_inband_note note, void *argument)
{
    (void)note;
    (void)argument;
    return OS_UNSUPPORTED;
}

void os_thread_go_ordinary(void)
{
    rt_make_soft_real_time();
}

void os_thread_go_realtime(void)
{
    rt_make_hard_real_time();
}
