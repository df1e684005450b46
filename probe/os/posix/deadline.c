/* SCHED_DEADLINE: sched_setattr(2), and how often a budget was used up. */
#define _GNU_SOURCE /* syscall */
#include "deadline.h"

#include "linux.h"
#include "status.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the calling thread; -1 where its overruns are not counted. */
static _Thread_local atomic_llong overruns = -1;

enum os_status linux_thread_set_deadline(int64_t runtime_ns, int64_t deadline_ns, int64_t period_ns)
{
    enum { DL_OVERRUN = 4 }; /* SCHED_FLAG_DL_OVERRUN, from Linux 4.16 on: SIGXCPU where the budget is used up */
    struct deadline_attributes wanted = {
        .size = sizeof wanted,
        .policy = SCHED_DEADLINE,
        .flags = DL_OVERRUN,
        .runtime_ns = (uint64_t)runtime_ns,
        .deadline_ns = (uint64_t)deadline_ns,
        .period_ns = (uint64_t)period_ns,
    };
    atomic_store_explicit(&overruns, 0, memory_order_relaxed);
    if (syscall(SYS_sched_setattr, 0, &wanted, 0U) == 0) {
        return OS_OK;
    }
    wanted.flags = 0;
    atomic_store_explicit(&overruns, -1, memory_order_relaxed);
    return syscall(SYS_sched_setattr, 0, &wanted, 0U) == 0 ? OS_OK : os_status_from_errno(errno);
}

/* RLIMIT_RTTIME, the watchdog's, does not count threads of this policy, and the kernel prefers the very thread. */
bool linux_budget_overrun(void)
{
    if (atomic_load_explicit(&overruns, memory_order_relaxed) < 0) {
        return false;
    }
    atomic_fetch_add_explicit(&overruns, 1, memory_order_relaxed);
    return true;
}

int64_t os_thread_budget_overruns(void)
{
    const int64_t counted = atomic_load_explicit(&overruns, memory_order_relaxed);
    return counted < 0 ? INT64_MIN : counted;
}
