#define _GNU_SOURCE
#include "deadline.h"
#include "linux.h"

#include "format.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CPU_LIMIT = 4096, NS_PER_US = 1000 };

int linux_policy(enum os_policy policy)
{
    switch (policy) {
    case OS_POLICY_FIFO:
        return SCHED_FIFO;
    case OS_POLICY_RR:
        return SCHED_RR;
    default:
        return SCHED_OTHER;
    }
}

void linux_thread_set_name(const char *name)
{
    if (name != NULL) {
        prctl(PR_SET_NAME, name, 0, 0, 0);
    }
}

/* Room for every CPU that we name; cpu_set_t alone ends at 1,024. */
struct cpus {
    cpu_set_t sets[CPU_LIMIT / CPU_SETSIZE];
};

static bool get_affinity(int64_t task, struct cpus *cpus)
{
    return sched_getaffinity((pid_t)task, sizeof *cpus, cpus->sets) == 0;
}

static enum os_status set_affinity(const struct cpus *cpus)
{
    return sched_setaffinity(0, sizeof *cpus, cpus->sets) == 0 ? OS_OK : os_status_from_errno(errno);
}

static enum os_status set_cpu(int32_t cpu)
{
    struct cpus only;
    CPU_ZERO_S(sizeof only, only.sets);
    CPU_SET_S((size_t)cpu, sizeof only, only.sets);
    return set_affinity(&only);
}

/* A CPU that was taken out of our control group's set, for which whoever started us named another group's file. */
enum os_status linux_thread_set_cpu(int32_t cpu)
{
    const enum os_status status = set_cpu(cpu);
    return status == OS_INVALID && linux_group_has_cpu(cpu) && linux_group_join() ? set_cpu(cpu) : status;
}

/* The one CPU of the set, OS_CPU_ANY when there are several, INT64_MIN when it can't be told. */
static int64_t only_allowed_cpu(int64_t task)
{
    struct cpus cpus;
    if (!get_affinity(task, &cpus)) {
        return INT64_MIN;
    }
    if (CPU_COUNT_S(sizeof cpus, cpus.sets) != 1) {
        return OS_CPU_ANY;
    }
    int64_t cpu = 0;
    while (!CPU_ISSET_S((size_t)cpu, sizeof cpus, cpus.sets)) {
        cpu++;
    }
    return cpu;
}

/* Kernels before 3.14 tell no more than POSIX asks for. */
static void read_attributes(int64_t task, struct deadline_attributes *found)
{
    memset(found, 0, sizeof *found);
    if (syscall(SYS_sched_getattr, (pid_t)task, found, (unsigned int)sizeof *found, 0U) != 0) {
        found->policy = (uint32_t)sched_getscheduler((pid_t)task);
        struct sched_param parameter;
        found->priority = sched_getparam((pid_t)task, &parameter) == 0 ? (uint32_t)parameter.sched_priority : 0;
    }
}

void linux_task_read_back(int64_t task, struct os_thread_obtained *obtained)
{
    *obtained = (struct os_thread_obtained){
        .policy = OS_POLICY_OTHER,
        .native_priority = INT64_MIN,
        .cpu = only_allowed_cpu(task),
        .timer_slack_ns = INT64_MIN,
        .runtime_ns = INT64_MIN,
        .deadline_ns = INT64_MIN,
        .period_ns = INT64_MIN,
    };
    struct deadline_attributes found;
    read_attributes(task, &found);
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

void linux_thread_read_back(struct os_thread_obtained *obtained)
{
    linux_task_read_back(0, obtained);
    const int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    if (slack >= 0) {
        obtained->timer_slack_ns = slack;
    }
}

bool linux_read_text(const char *path, char *text, size_t bytes)
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

/* cpuset(7), "List format" */
bool linux_list_contains(const char *list, int32_t cpu)
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

/* The C library's count won't do: some count only the CPUs that this process runs on. */
int32_t os_cpu_limit(void)
{
    char list[4096];
    int64_t last = CPU_LIMIT - 1;
    if (linux_read_text("/sys/devices/system/cpu/possible", list, sizeof list)) {
        for (const char *at = list; *at >= '0' && *at <= '9'; at += *at == ',' || *at == '-' ? 1 : 0) {
            last = read_number(&at);
        }
    }
    return last < CPU_LIMIT ? (int32_t)last + 1 : CPU_LIMIT;
}

bool os_cpu_is_online(int32_t cpu)
{
    char list[4096];
    if (!linux_read_text("/sys/devices/system/cpu/online", list, sizeof list)) {
        return os_cpu_is_inherited(cpu); /* /sys is not there: what the scheduler says has to do */
    }
    return linux_list_contains(list, cpu);
}

void os_cpus_online_text(char *text, size_t bytes)
{
    if (!linux_read_text("/sys/devices/system/cpu/online", text, bytes)) {
        text[0] = '\0';
    }
    text[strcspn(text, "\n")] = '\0';
}

bool os_cpu_is_inherited(int32_t cpu)
{
    struct cpus cpus;
    return cpu >= 0 && cpu < CPU_LIMIT && get_affinity(0, &cpus) && CPU_ISSET_S((size_t)cpu, sizeof cpus, cpus.sets);
}

/* Tried, and undone: isolated CPUs (isolcpus=) are in nobody's mask, and still free to choose. */
bool os_cpu_is_allowed(int32_t cpu)
{
    struct cpus before;
    if (cpu < 0 || cpu >= CPU_LIMIT || !get_affinity(0, &before)) {
        return false;
    }
    const bool allowed = set_cpu(cpu) == OS_OK;
    return set_affinity(&before) == OS_OK && (allowed || linux_group_has_cpu(cpu));
}

/* RLIMIT_RTTIME (getrlimit(2)) counts, in the kernel's own tick, the time that a real-time thread runs without
 * a blocking call. Past the soft limit the running thread itself gets SIGXCPU; past the hard one, SIGKILL. */
enum os_status os_watchdog_start(int64_t budget_ns, int64_t *obtained_ns)
{
    struct rlimit limit = {
        .rlim_cur = (rlim_t)(budget_ns / NS_PER_US),
        .rlim_max = (rlim_t)(2 * (budget_ns / NS_PER_US)),
    };
    if (setrlimit(RLIMIT_RTTIME, &limit) != 0) {
        struct rlimit granted;
        if (getrlimit(RLIMIT_RTTIME, &granted) != 0) {
            return os_status_from_errno(errno);
        }
        limit.rlim_max = granted.rlim_max; /* lower than wanted, and not ours to raise */
        limit.rlim_cur = limit.rlim_cur < limit.rlim_max ? limit.rlim_cur : limit.rlim_max / 2;
        if (setrlimit(RLIMIT_RTTIME, &limit) != 0) {
            return os_status_from_errno(errno);
        }
    }
    *obtained_ns = (int64_t)limit.rlim_cur * NS_PER_US;
    return OS_OK;
}

int64_t linux_locked_bytes(void)
{
    char status[LINUX_STATUS_BYTES];
    const char *const at =
        linux_read_text("/proc/self/status", status, sizeof status) ? linux_behind(status, "\nVmLck:") : NULL;
    return at != NULL ? linux_number(at, NULL) * 1024 : -1;
}

enum os_status os_realtime_share(int64_t *runtime_ns, int64_t *period_ns)
{
    char runtime[32];
    char period[32];
    if (!linux_read_text("/proc/sys/kernel/sched_rt_runtime_us", runtime, sizeof runtime) ||
        !linux_read_text("/proc/sys/kernel/sched_rt_period_us", period, sizeof period)) {
        return OS_UNSUPPORTED;
    }
    *runtime_ns = runtime[0] == '-' ? -1 : linux_number(runtime, NULL) * NS_PER_US;
    *period_ns = linux_number(period, NULL) * NS_PER_US;
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

/* This program's file; false where it has none any more, or another has its name: "/usr/bin/tauto-probe (deleted)". */
static bool own_file(char *path, size_t bytes)
{
    struct stat own;
    struct stat named;
    const ssize_t length = readlink("/proc/self/exe", path, bytes);
    if (length <= 0 || (size_t)length >= bytes) {
        return false;
    }
    path[length] = '\0';
    return stat("/proc/self/exe", &own) == 0 && stat(path, &named) == 0 && own.st_dev == named.st_dev &&
           own.st_ino == named.st_ino;
}

/* A word as a shell reads it: in quotes, where it has any letter that is not plain. False: it does not fit. */
static bool quote(char *quoted, size_t bytes, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%";
    if (strspn(word, plain) == strlen(word)) {
        return format_text(quoted, bytes, "%s", word) < bytes;
    }
    size_t used = format_text(quoted, bytes, "'");
    for (; *word != '\0' && used < bytes; word++) {
        const char letter[] = {*word, '\0'};
        used += format_text(quoted + used, bytes - used, "%s", *word == '\'' ? "'\\''" : letter);
    }
    return used < bytes && used + format_text(quoted + used, bytes - used, "'") < bytes;
}

/* Both rights, whichever was refused first: most experiments need both, and setcap(8) takes away what it does not name.
 * Whoever copied this program for a while says in the environment what to do where its file can't be given rights. */
static const char *write_advice(char *text, size_t bytes, const char *last)
{
    char path[1024];
    char program[1100] = "";
    const char *const instead = getenv("TAUTO_INSTEAD_OF_SETCAP");
    if (instead == NULL && !(own_file(path, sizeof path) && quote(program, sizeof program, path))) {
        format_text(program, sizeof program, "tauto-probe");
    }
    format_text(text, bytes,
                "Grant it with one of: %s%s; the lines \"@realtime - rtprio 99\" "
                "and \"@realtime - memlock unlimited\" in /etc/security/limits.d/realtime.conf for a group you are in, "
                "then log in again; or run as root. %s",
                instead != NULL ? instead : "sudo setcap cap_sys_nice,cap_ipc_lock+ep ", instead != NULL ? "" : program, last);
    return text;
}

const char *os_advice_for_policy(void)
{
    static char text[1536];
    return write_advice(text, sizeof text, "In a container: --cap-add SYS_NICE.");
}

const char *os_advice_for_memory_lock(void)
{
    static char text[1536];
    return write_advice(text, sizeof text, "Or measure with pageable memory: --no-memory-lock.");
}
