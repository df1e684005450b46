/*
 * Children of this program's own: fork(2), waitpid(2), pidfd_open(2). A child dies with its parent (PR_SET_PDEATHSIG,
 * prctl(2)), also when that one is killed.
 */
#define _GNU_SOURCE
#include "os/fork.h"

#include "os/posix/status.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_INTERVAL_MS = 10, SHORT_LOOK_NS = 500000 };
enum { CHILD_DID = 0, CHILD_DID_NOT = 1 };
enum { SETS = 4 }; /* cpu_set_t alone ends at 1,024 CPUs */

/* From here on only what is safe after a fork of one thread of several: no locks, no allocation. */
static _Noreturn void be_the_child(pid_t parent, bool (*work)(void *argument), void *argument)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent) {
        _exit(CHILD_DID_NOT); /* the parent has ended before the child asked to die with it */
    }
    _exit(work(argument) ? CHILD_DID : CHILD_DID_NOT);
}

/* Sleeps until the child may have ended, at most some 10 ms. */
static void wait_a_little(int handle)
{
    if (handle >= 0) {
        struct pollfd child = {.fd = handle, .events = POLLIN};
        (void)poll(&child, 1, LOOK_INTERVAL_MS);
    } else { /* before Linux 5.3 */
        const struct timespec look = {.tv_nsec = SHORT_LOOK_NS};
        (void)nanosleep(&look, NULL);
    }
}

/* Also a child whose CPU is held by more urgent threads comes to its end: it may run anywhere. */
static void end_child(pid_t child)
{
    cpu_set_t every[SETS];
    memset(every, 0xff, sizeof every);
    (void)kill(child, SIGKILL);
    (void)sched_setaffinity(child, sizeof every, every);
}

static enum os_status status_of(int ended, bool killed_by_us)
{
    if (WIFEXITED(ended)) {
        return WEXITSTATUS(ended) == CHILD_DID ? OS_OK : OS_FAILED;
    }
    if (killed_by_us) {
        return OS_INTERRUPTED;
    }
    return WTERMSIG(ended) == SIGKILL || WTERMSIG(ended) == SIGBUS ? OS_NO_MEMORY : OS_FAILED;
}

enum os_status os_fork_and_wait(bool (*work)(void *argument), void *argument)
{
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
        return os_status_from_errno(errno);
    }
    if (child == 0) {
        be_the_child(parent, work, argument);
    }
#ifdef SYS_pidfd_open
    const int handle = (int)syscall(SYS_pidfd_open, child, 0U);
#else
    const int handle = -1;
#endif
    int ended = 0;
    bool killed = false;
    pid_t got = 0;
    while ((got = waitpid(child, &ended, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
        if (!killed && os_stop_requested() != OS_STOP_NONE) {
            end_child(child);
            killed = true;
        }
        wait_a_little(handle);
    }
    const int error = errno;
    if (handle >= 0) {
        close(handle);
    }
    return got < 0 ? os_status_from_errno(error) : status_of(ended, killed);
}
