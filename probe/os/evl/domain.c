/*
 * EVL (Xenomai 4): a real-time core beside Linux, with calls of its own. A measuring thread attaches itself and runs
 * out of band; who makes one of Linux's calls is switched in band, which counts here.
 */
#define _GNU_SOURCE
#include "os/posix/domain.h"

#include "format.h"
#include "os/core/inband.h"

#include <evl/evl.h>
#include <signal.h>

enum os_status os_system_begin(const char **why)
{
    const int error = evl_init();
    *why = error >= 0 ? ""
           : error == -EACCES || error == -EPERM
               ? "this user may not use EVL (/dev/evl).\nRun as root, or as a member of the group that owns /dev/evl/thread/clone."
               : "this probe is for EVL, and this kernel has no EVL core that the library fits.\nBoot a kernel with EVL and a libevl "
                 "of its ABI (`evl check`), or take the probe for Linux.";
    return error >= 0 ? OS_OK : OS_UNSUPPORTED;
}

void domain_facts_read(struct os_facts *facts)
{
    const struct evl_version version = evl_get_version();
    format_text(facts->core, sizeof facts->core, "EVL ABI %d, libevl API %d", version.abi_level, version.api_level);
}

bool domain_answers(enum os_service service, struct os_answer *answer)
{
    switch (service) {
    case OS_SERVICE_POLICY_DEADLINE:
        *answer = (struct os_answer){OS_ABSENT, "EVL has no SCHED_DEADLINE"};
        return true;
    case OS_SERVICE_MUTEX:
        *answer = (struct os_answer){OS_ABSENT, "EVL's mutexes inherit priority, always"};
        return true;
    case OS_SERVICE_RW_LOCK:
        *answer = (struct os_answer){OS_NOT_REALTIME, "EVL has no read-write lock: who waits for Linux's is switched in band"};
        return true;
    case OS_SERVICE_FIFO:
        *answer = (struct os_answer){OS_NOT_REALTIME, "a pipe is Linux's: who waits for it is switched in band"};
        return true;
    case OS_SERVICE_MESSAGE_QUEUE:
        *answer = (struct os_answer){OS_NOT_REALTIME, "EVL has no message queue: who waits for Linux's is switched in band"};
        return true;
    case OS_SERVICE_SUSPEND_RESUME:
        *answer = (struct os_answer){OS_ABSENT, "EVL has no call that suspends another thread"};
        return true;
    case OS_SERVICE_THREAD_CPU_TIME:
    case OS_SERVICE_INBAND_SWITCHES:
        *answer = (struct os_answer){OS_PRESENT, ""};
        return true;
    default:
        return false;
    }
}

enum core_news core_news_of(const siginfo_t *info)
{
    switch (sigdebug_marked(info) ? (int)sigdebug_cause(info) : EVL_HMDIAG_WATCHDOG) {
    case EVL_HMDIAG_SIGDEMOTE:
    case EVL_HMDIAG_SYSDEMOTE:
    case EVL_HMDIAG_EXDEMOTE:
    case EVL_HMDIAG_LKDEPEND:
        return CORE_NEWS_LEFT;
    case EVL_HMDIAG_WATCHDOG:
        return CORE_NEWS_WATCHDOG;
    default:
        return CORE_NEWS_OTHER;
    }
}

/* Back out of band: sigaction(2) is Linux's. */
bool core_begin_to_tell(void)
{
    return evl_set_thread_mode(evl_get_self(), EVL_T_WOSS, NULL) == 0 && evl_switch_oob() == 0;
}

void core_go_ordinary(void)
{
    (void)evl_switch_inband();
}

void core_go_realtime(void)
{
    (void)evl_switch_oob();
}
