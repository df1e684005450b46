/* Other programs: what they are given, how they end, and that nothing of them is left. */
#include "format.h"
#include "os/process.h"
#include "test/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MS = 1000000 };
static const int64_t patience_ns = 20000000000;

static struct os_process *start_shell(const char *script, bool has_input)
{
    char words[1024];
    format_text(words, sizeof words, "%s", script);
    char *const argv[] = {"sh", "-c", words, NULL};
    const struct os_process_attributes attributes = {
        .argv = argv, .cpu = OS_CPU_ANY, .quiet = true, .has_input = has_input};
    struct os_process *process = NULL;
    assert_int_equal(os_process_start(&process, &attributes), OS_OK);
    return process;
}

static int wait_for_end(struct os_process *process)
{
    int code = -1;
    const int64_t give_up_ns = os_now_ns() + patience_ns;
    while (!os_process_has_ended(process, &code)) {
        assert_true(os_now_ns() < give_up_ns);
        os_process_wait(process, false, give_up_ns);
    }
    return code;
}

static int64_t wait_for_number_in(const char *path)
{
    const int64_t give_up_ns = os_now_ns() + patience_ns;
    for (;;) {
        char text[32] = "";
        const int file = open(path, O_RDONLY);
        const ssize_t got = file >= 0 ? read(file, text, sizeof text - 1) : 0;
        if (file >= 0) {
            close(file);
        }
        if (got > 0 && text[got - 1] == '\n') {
            return strtoll(text, NULL, 10);
        }
        assert_true(os_now_ns() < give_up_ns);
        os_sleep_until(os_now_ns() + 5LL * MS);
    }
}

static void wait_until_gone(int64_t pid)
{
    const int64_t give_up_ns = os_now_ns() + patience_ns;
    while (kill((pid_t)pid, 0) == 0) {
        assert_true(os_now_ns() < give_up_ns);
        os_sleep_until(os_now_ns() + 5LL * MS);
    }
}

static void the_exit_code_is_the_programs_own_or_128_and_the_signal(void **state)
{
    (void)state;
    struct os_process *process = start_shell("exit 7", false);
    assert_int_equal(wait_for_end(process), 7);
    os_process_free(process);
    process = start_shell("kill -TERM $$", false);
    assert_int_equal(wait_for_end(process), 128 + SIGTERM);
    os_process_free(process);
}

static void a_program_that_is_not_there_is_told(void **state)
{
    (void)state;
    char *const argv[] = {"tauto-no-such-program", NULL};
    size_t failed_join = 9;
    const struct os_process_attributes attributes = {.argv = argv, .failed_join = &failed_join, .cpu = OS_CPU_ANY};
    struct os_process *process = NULL;
    assert_int_equal(os_process_start(&process, &attributes), OS_NOT_FOUND);
    assert_int_equal(failed_join, 0);
    char *const folder[] = {"/", NULL};
    const struct os_process_attributes denied = {.argv = folder, .cpu = OS_CPU_ANY};
    assert_int_equal(os_process_start(&process, &denied), OS_NOT_PERMITTED);
}

static void it_joins_before_it_begins_and_the_join_that_failed_is_named(void **state)
{
    (void)state;
    char path[] = "/tmp/tauto-test-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    char script[128];
    format_text(script, sizeof script, "test \"$(cat %s)\" = 0", path);
    char *const argv[] = {"sh", "-c", script, NULL};
    const char *const joins[] = {path, "/tmp/tauto-no-such-folder/tasks"};
    size_t failed_join = 9;
    struct os_process_attributes attributes = {
        .argv = argv, .joins = joins, .join_count = 1, .failed_join = &failed_join, .cpu = OS_CPU_ANY};
    struct os_process *process = NULL;
    assert_int_equal(os_process_start(&process, &attributes), OS_OK);
    assert_int_equal(failed_join, 1);
    assert_int_equal(wait_for_end(process), 0);
    os_process_free(process);
    attributes.join_count = 2;
    assert_int_equal(os_process_start(&process, &attributes), OS_NOT_FOUND);
    assert_int_equal(failed_join, 1);
    close(file);
    unlink(path);
}

static void its_input_is_what_is_written_until_it_is_closed(void **state)
{
    (void)state;
    struct os_process *process = start_shell("read word && test \"$word\" = hello && ! read word && exit 5", true);
    assert_int_equal(os_process_write(process, "hello\n", 6), OS_OK);
    int code = 0;
    os_process_wait(process, false, os_now_ns() + 50LL * MS);
    assert_false(os_process_has_ended(process, &code));
    os_process_close_input(process);
    assert_int_equal(wait_for_end(process), 5);
    assert_int_equal(os_process_write(process, "more\n", 5), OS_INVALID);
    os_process_free(process);
    process = start_shell("! read word && exit 6", false);
    assert_int_equal(wait_for_end(process), 6);
    os_process_free(process);
}

static void it_is_told_to_end_once_and_so_is_what_left_its_group(void **state)
{
    (void)state;
    char path[] = "/tmp/tauto-test-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    char script[512];
    format_text(script, sizeof script,
                "setsid sh -c 'trap \"printf x >> %s; exit\" TERM; while :; do sleep 0.01; done' & "
                "trap 'printf x >> %s; sleep 0.3; exit 3' TERM; while :; do sleep 0.01; done",
                path, path);
    struct os_process *process = start_shell(script, false);
    os_sleep_until(os_now_ns() + 500LL * MS);
    os_process_signal(process, OS_PROCESS_END);
    assert_int_equal(wait_for_end(process), 3);
    char heard[8] = "";
    assert_int_equal(read(file, heard, sizeof heard - 1), 2);
    assert_string_equal(heard, "xx");
    os_process_free(process);
    close(file);
    unlink(path);
}

static void what_ignores_its_end_and_left_its_group_is_killed(void **state)
{
    (void)state;
    char path[] = "/tmp/tauto-test-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    char script[512];
    format_text(script, sizeof script,
                "trap '' TERM; "
                "setsid sh -c 'trap \"\" TERM; setsid sh -c \"echo \\$\\$ > %s; sleep 1000\" & sleep 1000' & "
                "sleep 1000",
                path);
    struct os_process *const process = start_shell(script, false);
    const int64_t grandchild = wait_for_number_in(path);
    assert_int_equal(kill((pid_t)grandchild, 0), 0);
    int code = 0;
    os_process_signal(process, OS_PROCESS_END);
    os_process_wait(process, false, os_now_ns() + 100LL * MS);
    assert_false(os_process_has_ended(process, &code));
    os_process_signal(process, OS_PROCESS_KILL);
    assert_int_equal(wait_for_end(process), 128 + SIGKILL);
    os_process_free(process);
    assert_int_not_equal(kill((pid_t)grandchild, 0), 0);
    unlink(path);
}

/* A starter that dies of SIGKILL, in a process of its own. */
static void nothing_outlives_a_starter_that_is_killed(void **state)
{
    (void)state;
    char path[] = "/tmp/tauto-test-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    const pid_t starter = fork();
    if (starter == 0) {
        char script[256];
        format_text(script, sizeof script, "setsid sh -c 'echo $$ > %s; sleep 1000' & exit 0", path);
        (void)start_shell(script, false);
        for (;;) {
            pause();
        }
    }
    const int64_t grandchild = wait_for_number_in(path);
    assert_int_equal(kill(starter, SIGKILL), 0);
    assert_int_equal(waitpid(starter, NULL, 0), starter);
    wait_until_gone(grandchild);
    unlink(path);
}

static void its_cpu_time_counts_when_it_is_freed(void **state)
{
    (void)state;
    const int64_t before_ns = os_children_cpu_time_ns();
    struct os_process *const process = start_shell("sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'", false);
    assert_int_equal(wait_for_end(process), 0);
    os_process_free(process);
    assert_true(os_children_cpu_time_ns() - before_ns > 10LL * MS);
}

static void one_that_runs_is_freed_with_all_it_started(void **state)
{
    (void)state;
    struct os_process *const first = start_shell("sleep 1000 & sleep 1000", false);
    struct os_process *const second = start_shell("sleep 1000", true);
    os_process_free(first);
    os_process_free(second);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TESTS(cmocka_unit_test(the_exit_code_is_the_programs_own_or_128_and_the_signal),
      cmocka_unit_test(a_program_that_is_not_there_is_told),
      cmocka_unit_test(it_joins_before_it_begins_and_the_join_that_failed_is_named),
      cmocka_unit_test(its_input_is_what_is_written_until_it_is_closed),
      cmocka_unit_test(it_is_told_to_end_once_and_so_is_what_left_its_group),
      cmocka_unit_test(what_ignores_its_end_and_left_its_group_is_killed),
      cmocka_unit_test(nothing_outlives_a_starter_that_is_killed),
      cmocka_unit_test(its_cpu_time_counts_when_it_is_freed),
      cmocka_unit_test(one_that_runs_is_freed_with_all_it_started))
