/* Files that the child is to lose, and what is left of a program that no one may kill, which takes root to have. */
#define _GNU_SOURCE
#include "os/child.h"

#include "test/check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000, MINE = 4711, OF_ANOTHER = 4712, LIVES_S = 20, PATIENT_S = 10, EXIT_DENIED = 77 };
static const int64_t ns_per_s = 1000000000;

static int code_of(void (*live)(void))
{
    int how = 0;
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        live();
    }
    assert_int_equal(waitpid(process, &how, 0), process);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

static void become(uid_t user)
{
    if (setresuid(user, user, user) != 0) {
        _exit(EXIT_FAILURE);
    }
}

static void live_as_another(void *argument)
{
    (void)argument;
    become(OF_ANOTHER);
    sleep(LIVES_S);
    _exit(EXIT_SUCCESS);
}

/* In a process of its own: it gives up being root, and what it started can't be killed then. */
static _Noreturn void sweep_as_a_user(void)
{
    struct step_child child = {0};
    if (step_child_start(&child, live_as_another, NULL) != OS_OK) {
        _exit(EXIT_FAILURE);
    }
    os_sleep_until(os_now_ns() + 300LL * NS_PER_MS); /* it is of another user by then */
    become(MINE);
    const int64_t began_ns = os_now_ns();
    step_child_sweep();
    const bool is_soon = os_now_ns() - began_ns < PATIENT_S * ns_per_s;
    const bool is_there = waitpid((pid_t)child.number, NULL, WNOHANG) == 0;
    _exit(is_soon && is_there ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void what_can_not_be_killed_is_left(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(code_of(sweep_as_a_user), EXIT_SUCCESS);
}

/* As containers of old do it. */
static bool deny_close_range(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof steps / sizeof steps[0], steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* The limit is lower than when the file was opened. */
static _Noreturn void close_all_without_close_range(void)
{
    enum { FAR = 200, FIRST = 10, MOST = 50 };
    const struct rlimit few = {MOST, MOST};
    if (dup2(STDERR_FILENO, FAR) != FAR || dup2(STDERR_FILENO, FIRST) != FIRST || setrlimit(RLIMIT_NOFILE, &few) != 0) {
        _exit(EXIT_FAILURE);
    }
    if (!deny_close_range()) {
        _exit(EXIT_DENIED);
    }
    step_child_close_from(FIRST);
    const bool is_closed = fcntl(FAR, F_GETFD) < 0 && fcntl(FIRST, F_GETFD) < 0 && fcntl(STDERR_FILENO, F_GETFD) >= 0;
    _exit(is_closed ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void files_are_closed_where_close_range_is_denied(void **state)
{
    (void)state;
    const int code = code_of(close_all_without_close_range);
    if (code == EXIT_DENIED) {
        skip();
    }
    assert_int_equal(code, EXIT_SUCCESS);
}

TESTS(cmocka_unit_test(what_can_not_be_killed_is_left),
      cmocka_unit_test(files_are_closed_where_close_range_is_denied))
