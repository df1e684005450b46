/* What /proc says of a process, where its user is in so many groups that the file is longer than usual. */
#define _GNU_SOURCE
#include "os/memory_used.h"
#include "os/ordinary.h"
#include "os/os.h"
#include "test/check.h"

#include <grp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GROUPS = 700, PAGE = 4096, MS = 1000000 };
static const gid_t first_group = 1000000000;

static _Alignas(PAGE) char page[PAGE];

static void sleep_a_while(void *argument)
{
    (void)argument;
    os_sleep_until(os_now_ns() + 500LL * MS);
}

static bool are_all_told(void)
{
    static const struct os_thread_attributes ordinary = {.name = "test", .policy = OS_POLICY_OTHER, .cpu = OS_CPU_ANY};
    struct os_thread *thread = NULL;
    struct os_counts counts;
    struct os_memory_used used;
    if (os_thread_create(&thread, &ordinary, sleep_a_while, NULL) != OS_OK) {
        return false;
    }
    os_sleep_until(os_now_ns() + 100LL * MS);
    os_counts_read(&counts, thread, -1);
    os_memory_used_read(&used);
    (void)os_thread_join(thread);
    return counts.preempted >= 0 && counts.faults >= 0 && used.threads >= 2 && used.locked_bytes > 0 &&
           os_memory_is_locked();
}

/* In a process of its own, which is in these groups from now on. */
static _Noreturn void live_in_many_groups(void)
{
    gid_t groups[GROUPS];
    for (gid_t i = 0; i < GROUPS; i++) {
        groups[i] = first_group + i;
    }
    if (setgroups(GROUPS, groups) != 0 || syscall(SYS_mlock, page, sizeof page) != 0) {
        _exit(EXIT_FAILURE);
    }
    _exit(are_all_told() ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void many_groups_hide_nothing(void **state)
{
    (void)state;
    int how = 0;
    if (geteuid() != 0) {
        skip(); /* only root may choose them */
    }
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        live_in_many_groups();
    }
    assert_int_equal(waitpid(process, &how, 0), process);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), EXIT_SUCCESS);
}

TESTS(cmocka_unit_test(many_groups_hide_nothing))
