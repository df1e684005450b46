/*
 * Xenomai 3, whose Cobalt core runs beside Linux. The program is linked as `xeno-config --skin=posix` says, so that its
 * POSIX calls are Cobalt's where Cobalt has them; who uses one that it has not leaves primary mode, which counts here.
 */
#include "os/posix/domain.h"

#include "os/core/inband.h"
#include "os/posix/linux.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/cobalt.h>
#include <unistd.h>
#include <xenomai/init.h>

#ifndef COBALT_PROC
#define COBALT_PROC "/proc/xenomai"
#endif
#ifndef COBALT_MEMORY
#define COBALT_MEMORY "/dev/rtdm/memdev-private"
#endif

/* xenomai_init ends the program where there is no core, with words of its own, and reads options of its own. */
enum os_status os_system_begin(const char **why)
{
    static char name[] = "tauto-probe";
    static char *const made[] = {name, NULL};
    char *const *argv = made;
    int argc = 1;
    *why = "";
    if (access(COBALT_PROC, F_OK) != 0 && access(COBALT_MEMORY, F_OK) != 0) {
        *why = "this probe is for Xenomai's Cobalt core, and this kernel has none: neither " COBALT_PROC " nor " COBALT_MEMORY
               " is there.\nBoot a kernel with Cobalt, or take the probe for Linux.";
        return OS_UNSUPPORTED;
    }
    if (access(COBALT_MEMORY, R_OK | W_OK) != 0) {
        *why = "this user may not use Cobalt (" COBALT_MEMORY ").\nRun as root, or as a member of the group that "
               "/sys/module/xenomai/parameters/allowed_group names.";
        return OS_NOT_PERMITTED;
    }
    xenomai_init(&argc, &argv);
    return OS_OK;
}

void domain_facts_read(struct os_facts *facts)
{
    char version[32];
    const bool told = linux_read_text(COBALT_PROC "/version", version, sizeof version);
    version[told ? strcspn(version, "\n") : 0] = '\0';
    memcpy(facts->core, "Cobalt ", sizeof "Cobalt ");
    memcpy(facts->core + sizeof "Cobalt " - 1, version, strlen(version) + 1);
}

bool domain_answers(enum os_service service, struct os_answer *answer)
{
    switch (service) {
    case OS_SERVICE_POLICY_DEADLINE:
        *answer = (struct os_answer){OS_ABSENT, "Cobalt has no SCHED_DEADLINE"};
        return true;
    case OS_SERVICE_RW_LOCK:
        *answer = (struct os_answer){OS_NOT_REALTIME, "Cobalt has no read-write lock: who waits for Linux's leaves primary mode"};
        return true;
    case OS_SERVICE_FIFO:
        *answer = (struct os_answer){OS_NOT_REALTIME, "a pipe is Linux's: who waits for it leaves primary mode"};
        return true;
    case OS_SERVICE_SUSPEND_RESUME:
    case OS_SERVICE_THREAD_CPU_TIME:
    case OS_SERVICE_INBAND_SWITCHES:
        *answer = (struct os_answer){OS_PRESENT, ""};
        return true;
    default:
        return false;
    }
}

/* Before 3.1 nothing marks what is Cobalt's; the kernel's own limits are told by the kernel. */
static bool is_of_cobalt(const siginfo_t *info)
{
#ifdef sigdebug_marked
    return sigdebug_marked(info);
#else
    return info->si_code == SI_QUEUE;
#endif
}

enum core_news core_news_of(const siginfo_t *info)
{
    switch (is_of_cobalt(info) ? (int)sigdebug_reason(info) : SIGDEBUG_WATCHDOG) {
    case SIGDEBUG_MIGRATE_SIGNAL:
    case SIGDEBUG_MIGRATE_SYSCALL:
    case SIGDEBUG_MIGRATE_FAULT:
    case SIGDEBUG_MIGRATE_PRIOINV:
        return CORE_NEWS_LEFT;
    case SIGDEBUG_WATCHDOG:
        return CORE_NEWS_WATCHDOG;
    default:
        return CORE_NEWS_OTHER;
    }
}

bool core_begin_to_tell(void)
{
    return pthread_setmode_np(0, PTHREAD_WARNSW, NULL) == 0;
}

void core_go_ordinary(void)
{
}

void core_go_realtime(void)
{
    cobalt_thread_harden();
}
