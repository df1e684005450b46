/* fork(2), waitpid(2), prctl(2), setrlimit(2), capset(2). */
#define _GNU_SOURCE
#include "child.h"

#include "os/posix/interruption.h"
#include "os/posix/linux.h"
#include "os/posix/process_tree.h"
#include "os/posix/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000, CPU_SETS = 4 }; /* of 1,024 CPUs each */
const int64_t step_child_patience_ns = 3000000000;

enum os_status step_share(void *memory, size_t bytes)
{
    void *const copy = malloc(bytes);
    if (copy == NULL) {
        return OS_NO_MEMORY;
    }
    memcpy(copy, memory, bytes);
    const void *const made =
        mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    const enum os_status status = made == MAP_FAILED ? os_status_from_errno(errno) : OS_OK;
    if (status == OS_OK) {
        memcpy(memory, copy, bytes); /* touches every page */
    }
    free(copy);
    return status;
}

enum os_status step_child_start(struct step_child *child, void (*live)(void *argument), void *argument)
{
    const pid_t parent = getpid();
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* whatever it leaves behind becomes a child of ours */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != parent) {
            _exit(EXIT_FAILURE);
        }
        live(argument);
        _exit(EXIT_FAILURE);
    }
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0) {
        return os_status_from_errno(error);
    }
    child->number = pid;
    child->watched = (int)syscall(SYS_pidfd_open, pid, 0U);
    return OS_OK;
}

/* Those of the parent are for its own files. */
void step_child_reset_signals(bool all)
{
    for (int signal = 1; signal <= SIGRTMAX; signal++) {
        if (all || (signal != INTERRUPTION && signal != SIGXCPU)) {
            struct sigaction usual = {.sa_handler = SIG_DFL};
            (void)sigaction(signal, &usual, NULL); /* those that nobody may change refuse */
        }
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void limit(int resource, rlim_t most)
{
    const struct rlimit both = {.rlim_cur = most, .rlim_max = most};
    (void)setrlimit((__rlimit_resource_t)resource, &both);
}

/* What it has, and half of what the machine could still give. */
static void limit_memory(void)
{
    enum { LINE_BYTES = 128 };
    char text[LINE_BYTES];
    const int64_t available = os_memory_available_bytes();
    if (available < INT64_MAX && linux_read_text("/proc/self/statm", text, sizeof text)) {
        limit(RLIMIT_AS, (rlim_t)strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)(available / 2));
    }
}

/* Where there is no close_range(2) or a container denies it, files up to the limit would be a billion. */
void step_child_close_from(int first)
{
    DIR *const files = syscall(SYS_close_range, (unsigned int)first, ~0U, 0U) == 0 ? NULL : opendir("/proc/self/fd");
    if (files == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(files); entry != NULL; entry = readdir(files)) {
        const int64_t file = linux_number(entry->d_name, NULL);
        if (file >= first && file != dirfd(files)) {
            close((int)file);
        }
    }
    closedir(files);
}

void step_child_part(void)
{
    (void)setsid();
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) {
        (void)dup2(nothing, STDIN_FILENO);
    }
    (void)dup2(STDERR_FILENO, STDOUT_FILENO); /* standard output may be the stream */
    step_child_close_from(STDERR_FILENO + 1);
    step_child_reset_signals(false);
    os_memory_end_first();
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_MEMLOCK, RLIM_INFINITY); /* where that is permitted, it needs no right to lock memory */
    limit_memory();
}

enum os_status step_child_give_up_rights(void)
{
    struct rlimit locked = {0};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &header, sets) != 0 || getrlimit(RLIMIT_MEMLOCK, &locked) != 0) {
        return os_status_from_errno(errno);
    }
    const uint32_t lock_memory = locked.rlim_cur == RLIM_INFINITY ? 0U : sets[0].permitted & (1U << CAP_IPC_LOCK);
    memset(sets, 0, sizeof sets);
    sets[0].permitted = lock_memory;
    sets[0].effective = lock_memory;
    if (syscall(SYS_capset, &header, sets) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return os_status_from_errno(errno);
    }
    return OS_OK;
}

enum os_status step_child_rank(const struct step_child *child, const struct os_thread_attributes *attributes)
{
    const struct sched_param parameter = {
        .sched_priority = (int)os_priority_to_native(attributes->policy, attributes->below_highest)};
    return sched_setscheduler((pid_t)child->number, linux_policy(attributes->policy), &parameter) == 0
               ? OS_OK
               : os_status_from_errno(errno);
}

void step_child_wake(const struct step_child *child)
{
    (void)kill((pid_t)child->number, INTERRUPTION);
}

bool step_child_wait(struct step_child *child, int64_t instant_ns, struct step_ending *ending)
{
    struct pollfd file = {.fd = child->watched, .events = POLLIN};
    const int64_t left_ns = instant_ns - os_now_ns();
    (void)poll(&file, 1, left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0);
    int how = 0;
    if (waitpid((pid_t)child->number, &how, WNOHANG) != (pid_t)child->number) {
        return false;
    }
    ending->by_signal = WIFSIGNALED(how);
    ending->value = ending->by_signal ? WTERMSIG(how) : WEXITSTATUS(how);
    ending->signal = ending->by_signal ? strsignal(ending->value) : NULL;
    child->number = 0;
    if (child->watched >= 0) {
        close(child->watched);
        child->watched = -1;
    }
    return true;
}

/* Somebody of higher priority may hold its CPU, and it needs one to end. */
void step_child_kill(const struct step_child *child)
{
    const pid_t number = (pid_t)child->number; /* whoever waits for it may find its end meanwhile; 0 would be ourselves */
    if (number == 0) {
        return;
    }
    cpu_set_t all[CPU_SETS];
    memset(all, ~0, sizeof all);
    (void)sched_setaffinity(number, sizeof all, all);
    (void)kill(number, SIGKILL);
}

void step_child_sweep(void)
{
    const int64_t until_ns = os_now_ns() + step_child_patience_ns;
    for (;;) {
        process_tree_kill_children();
        const pid_t ended = waitpid(-1, NULL, WNOHANG);
        if ((ended < 0 && errno != EINTR) || (ended == 0 && os_now_ns() > until_ns)) {
            return;
        }
        if (ended == 0) {
            os_sleep_until(os_now_ns() + NS_PER_MS);
        }
    }
}

void step_child_end(int code, bool at_once)
{
    if (at_once) {
        _exit(code);
    }
    exit(code); /* what its code wrote with printf comes out, and its destructors run */
}
