/* What is left of a program that can't be killed. It takes root to leave such a one behind. */
#define _GNU_SOURCE
#include "os/child.h"

#include "test/check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000, MINE = 4711, OF_ANOTHER = 4712, LIVES_S = 20, PATIENT_S = 10 };
static const int64_t ns_per_s = 1000000000;

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
    int how = 0;
    if (geteuid() != 0) {
        skip();
    }
    const pid_t user = fork();
    assert_true(user >= 0);
    if (user == 0) {
        sweep_as_a_user();
    }
    assert_int_equal(waitpid(user, &how, 0), user);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), EXIT_SUCCESS);
}

TESTS(cmocka_unit_test(what_can_not_be_killed_is_left))
