#define _GNU_SOURCE
#include "linux.h"

#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

enum { CPU_LIMIT = 4096, NS_PER_US = 1000 };

/* sched_setattr(2) has no wrapper in the C libraries of this age. */
struct deadline_attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns;
    uint64_t deadline_ns;
    uint64_t period_ns;
};

void linux_thread_set_name(const char *name)
{
    if (name != NULL) {
        prctl(PR_SET_NAME, name, 0, 0, 0);
    }
}

enum os_status linux_thread_set_cpu(int32_t cpu)
{
    cpu_set_t *const set = CPU_ALLOC(CPU_LIMIT);
    if (set == NULL) {
        return OS_NO_MEMORY;
    }
    CPU_ZERO_S(CPU_ALLOC_SIZE(CPU_LIMIT), set);
    CPU_SET_S((size_t)cpu, CPU_ALLOC_SIZE(CPU_LIMIT), set);
    const int failed = sched_setaffinity(0, CPU_ALLOC_SIZE(CPU_LIMIT), set);
    const enum os_status status = failed ? os_status_from_errno(errno) : OS_OK;
    CPU_FREE(set);
    return status;
}

enum os_status linux_thread_set_deadline(int64_t runtime_ns, int64_t deadline_ns, int64_t period_ns)
{
    const struct deadline_attributes wanted = {
        .size = sizeof wanted,
        .policy = SCHED_DEADLINE,
        .runtime_ns = (uint64_t)runtime_ns,
        .deadline_ns = (uint64_t)deadline_ns,
        .period_ns = (uint64_t)period_ns,
    };
    return syscall(SYS_sched_setattr, 0, &wanted, 0U) == 0 ? OS_OK : os_status_from_errno(errno);
}

/* The one CPU of the set, OS_CPU_ANY when there are several, INT64_MIN when it can't be told. */
static int64_t only_allowed_cpu(void)
{
    cpu_set_t *const set = CPU_ALLOC(CPU_LIMIT);
    if (set == NULL) {
        return INT64_MIN;
    }
    const size_t bytes = CPU_ALLOC_SIZE(CPU_LIMIT);
    int64_t found = INT64_MIN;
    if (sched_getaffinity(0, bytes, set) == 0) {
        found = OS_CPU_ANY;
        if (CPU_COUNT_S(bytes, set) == 1) {
            found = 0;
            while (!CPU_ISSET_S((size_t)found, bytes, set)) {
                found++;
            }
        }
    }
    CPU_FREE(set);
    return found;
}

void linux_thread_read_back(struct os_thread_obtained *obtained)
{
    *obtained = (struct os_thread_obtained){
        .policy = OS_POLICY_OTHER,
        .native_priority = INT64_MIN,
        .cpu = only_allowed_cpu(),
        .timer_slack_ns = INT64_MIN,
        .runtime_ns = INT64_MIN,
        .deadline_ns = INT64_MIN,
        .period_ns = INT64_MIN,
    };
    const int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    if (slack >= 0) {
        obtained->timer_slack_ns = slack;
    }
    struct deadline_attributes found;
    memset(&found, 0, sizeof found);
    if (syscall(SYS_sched_getattr, 0, &found, (unsigned int)sizeof found, 0U) != 0) {
        return;
    }
    obtained->native_priority = (int64_t)found.priority;
    switch (found.policy) {
    case SCHED_FIFO:
        obtained->policy = OS_POLICY_FIFO;
        break;
    case SCHED_RR:
        obtained->policy = OS_POLICY_RR;
        break;
    case SCHED_DEADLINE:
        obtained->policy = OS_POLICY_DEADLINE;
        obtained->runtime_ns = (int64_t)found.runtime_ns;
        obtained->deadline_ns = (int64_t)found.deadline_ns;
        obtained->period_ns = (int64_t)found.period_ns;
        break;
    default:
        break;
    }
}

int32_t os_cpu_limit(void)
{
    const long configured = sysconf(_SC_NPROCESSORS_CONF);
    return configured > 0 && configured < CPU_LIMIT ? (int32_t)configured : CPU_LIMIT;
}

static bool read_text(const char *path, char *text, size_t bytes)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    const ssize_t got = read(file, text, bytes - 1);
    close(file);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* Digits at `*at`, which moves behind them; 0 when there are none. */
static int64_t read_number(const char **at)
{
    int64_t value = 0;
    for (; **at >= '0' && **at <= '9' && value < INT32_MAX; (*at)++) {
        value = value * 10 + (**at - '0');
    }
    return value;
}

/* Is `cpu` in a list such as 0-3,6? (cpuset(7), "List format") */
static bool list_contains(const char *list, int32_t cpu)
{
    for (const char *at = list; *at >= '0' && *at <= '9'; at += *at == ',' ? 1 : 0) {
        const int64_t first = read_number(&at);
        int64_t last = first;
        if (*at == '-') {
            at++;
            last = read_number(&at);
        }
        if (cpu >= first && cpu <= last) {
            return true;
        }
    }
    return false;
}

bool os_cpu_is_online(int32_t cpu)
{
    char list[4096];
    if (!read_text("/sys/devices/system/cpu/online", list, sizeof list)) {
        return cpu >= 0 && cpu < sysconf(_SC_NPROCESSORS_ONLN);
    }
    return list_contains(list, cpu);
}

bool os_cpu_is_allowed(int32_t cpu)
{
    cpu_set_t *const set = CPU_ALLOC(CPU_LIMIT);
    if (set == NULL || cpu < 0 || cpu >= CPU_LIMIT) {
        CPU_FREE(set);
        return false;
    }
    const size_t bytes = CPU_ALLOC_SIZE(CPU_LIMIT);
    const bool allowed = sched_getaffinity(0, bytes, set) == 0 && CPU_ISSET_S((size_t)cpu, bytes, set);
    CPU_FREE(set);
    return allowed;
}

enum os_status os_realtime_share(int64_t *runtime_ns, int64_t *period_ns)
{
    char runtime[32];
    char period[32];
    if (!read_text("/proc/sys/kernel/sched_rt_runtime_us", runtime, sizeof runtime) ||
        !read_text("/proc/sys/kernel/sched_rt_period_us", period, sizeof period)) {
        return OS_UNSUPPORTED;
    }
    const char *at = runtime;
    *runtime_ns = runtime[0] == '-' ? -1 : read_number(&at) * NS_PER_US;
    at = period;
    *period_ns = read_number(&at) * NS_PER_US;
    return OS_OK;
}

/* The request lives as long as the file is open, so the descriptor is kept on purpose
 * (Documentation/power/pm_qos_interface.rst). */
enum os_status os_wake_latency_limit(int32_t limit_us)
{
    const int file = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return errno == ENOENT ? OS_UNSUPPORTED : os_status_from_errno(errno);
    }
    if (write(file, &limit_us, sizeof limit_us) != (ssize_t)sizeof limit_us) {
        const int error = errno;
        close(file);
        return os_status_from_errno(error);
    }
    return OS_OK;
}

int64_t os_wake_latency_limit_in_force_us(void)
{
    static const int32_t no_limit_us = 2000000000; /* PM_QOS_CPU_LATENCY_DEFAULT_VALUE */
    int32_t limit_us = no_limit_us;
    const int file = open("/dev/cpu_dma_latency", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return INT64_MIN;
    }
    const bool told = read(file, &limit_us, sizeof limit_us) == (ssize_t)sizeof limit_us;
    close(file);
    return told && limit_us < no_limit_us ? limit_us : INT64_MIN;
}

const char *os_advice_for_policy(void)
{
    return "Grant it with one of: sudo setcap cap_sys_nice+ep PATH-OF-tauto-probe; a line \"@realtime - rtprio "
           "99\" in /etc/security/limits.d/realtime.conf for a group you are in, then log in again; or run as root. "
           "In a container: --cap-add SYS_NICE. Or measure without real-time priority: --policy other.";
}

const char *os_advice_for_memory_lock(void)
{
    return "Grant it with one of: sudo setcap cap_ipc_lock+ep PATH-OF-tauto-probe; a line \"@realtime - memlock "
           "unlimited\" in /etc/security/limits.d/realtime.conf for a group you are in, then log in again; or run as "
           "root. Or measure with pageable memory: --no-memory-lock.";
}
