/* The first program of a guest, as an ordinary process: what it makes of requests, and what it says of programs. */
#define _GNU_SOURCE
#include "os/os.h"
#include "test/check.h"
#include "test/guest_lab.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { MS = 1000000 };

static void the_first_call_tells_of_the_machine(void **state)
{
    (void)state;
    struct lab lab;
    struct event event;
    lab_begin(&lab);
    assert_true(lab_event(&lab, &event));
    assert_int_equal(event.kind, BOX_BOOT);
    assert_memory_equal(event.payload, "uname=Linux ", strlen("uname=Linux "));
    assert_non_null(memmem(event.payload, event.bytes, "\ncpus=", strlen("\ncpus=")));
    assert_false(lab_event(&lab, &event));
    lab_end(&lab);
}

static void what_a_program_says_comes_before_its_exit_code(void **state)
{
    (void)state;
    struct lab lab;
    struct outcome outcome;
    lab_begin(&lab);
    lab_start_shell(&lab, 7, "echo out; echo err >&2; exit 5");
    lab_wait(&lab, 7, &outcome);
    assert_string_equal(text_string(&outcome.output), "out\n");
    assert_string_equal(text_string(&outcome.errors), "err\n");
    assert_int_equal(outcome.code, 5);
    outcome_free(&outcome);
    lab_start_shell(&lab, 7, "kill -TERM $$"); /* its number is free again */
    lab_wait(&lab, 7, &outcome);
    assert_int_equal(outcome.code, -SIGTERM);
    outcome_free(&outcome);
    lab_end(&lab);
}

static void input_ends_for_the_one_it_was_closed_for_however_many_there_are(void **state)
{
    (void)state;
    struct lab lab;
    struct outcome outcome;
    lab_begin(&lab);
    lab_start(&lab, 1, (const char *const[]){"cat", NULL}, NULL);
    lab_start(&lab, 2, (const char *const[]){"cat", NULL}, NULL);
    lab_command(&lab, BOX_WRITE, 2, "second", 6);
    lab_command(&lab, BOX_WRITE, 1, "first", 5);
    lab_command(&lab, BOX_CLOSE, 1, NULL, 0);
    lab_wait(&lab, 1, &outcome);
    assert_string_equal(text_string(&outcome.output), "first");
    assert_int_equal(outcome.code, 0);
    outcome_free(&outcome);
    lab_command(&lab, BOX_WRITE, 1, "too late", 8); /* nobody is there to get it */
    lab_command(&lab, BOX_SIGNAL, 2, &(uint32_t){SIGKILL}, sizeof(uint32_t));
    lab_wait(&lab, 2, &outcome);
    assert_int_equal(outcome.code, -SIGKILL);
    outcome_free(&outcome);
    lab_end(&lab);
}

static void nothing_is_lost_of_an_input_larger_than_a_pipe(void **state)
{
    (void)state;
    enum { BYTES = 3000000 };
    struct lab lab;
    struct outcome outcome;
    char *const much = calloc(1, BYTES);
    lab_begin(&lab);
    lab_start_shell(&lab, 1, "sleep 0.02; exec cat");
    lab_command(&lab, BOX_WRITE, 1, much, BYTES);
    assert_true(lab_run(&lab, 0));
    lab_command(&lab, BOX_WRITE, 1, "end", 3);
    lab_command(&lab, BOX_CLOSE, 1, NULL, 0);
    lab_wait(&lab, 1, &outcome);
    assert_int_equal(outcome.code, 0);
    assert_int_equal(outcome.output.length, BYTES + 3);
    assert_memory_equal(outcome.output.data, much, BYTES);
    assert_string_equal(outcome.output.data + BYTES, "end");
    outcome_free(&outcome);
    free(much);
    lab_end(&lab);
}

static void what_finds_no_room_in_one_reply_comes_with_the_next(void **state)
{
    (void)state;
    enum { PROGRAMS = 70, BYTES = 65536 }; /* together more than the mailbox takes at a time */
    struct lab lab;
    struct event event;
    size_t got = 0;
    lab_begin(&lab);
    for (uint32_t program = 1; program <= PROGRAMS; program++) {
        lab_start(&lab, program, (const char *const[]){"head", "-c", "65536", "/dev/zero", NULL}, NULL);
    }
    assert_true(lab_answer(&lab));
    os_sleep_until(os_now_ns() + 200LL * MS); /* they write on while it stands at the gate */
    for (int ended = 0; ended < PROGRAMS;) {
        assert_true(lab_run(&lab, 200LL * MS));
        while (lab_event(&lab, &event)) {
            got += event.kind == BOX_OUTPUT ? event.bytes : 0;
            ended += event.kind == BOX_EXIT;
        }
    }
    assert_int_equal(got, PROGRAMS * BYTES);
    lab_end(&lab);
}

static void a_program_that_is_not_there_is_refused_and_nothing_else_suffers(void **state)
{
    (void)state;
    struct lab lab;
    struct event event;
    struct outcome outcome;
    lab_begin(&lab);
    lab_start(&lab, 1, (const char *const[]){"tauto-no-such-program", NULL}, NULL);
    lab_start_shell(&lab, 2, "exit 0");
    assert_true(lab_run(&lab, 0));
    assert_true(lab_event(&lab, &event));
    assert_int_equal(event.kind, BOX_REFUSED);
    assert_int_equal(event.program, 1);
    assert_non_null(memmem(event.payload, event.bytes, "no such file", strlen("no such file")));
    lab_wait(&lab, 2, &outcome);
    assert_int_equal(outcome.code, 0);
    outcome_free(&outcome);
    lab_end(&lab);
}

static void a_program_has_the_usual_environment_and_what_it_was_given(void **state)
{
    (void)state;
    struct lab lab;
    struct outcome outcome;
    lab_begin(&lab);
    lab_start(&lab, 1, (const char *const[]){"env", NULL}, (const char *const[]){"HOME=/elsewhere", "MORE=a=b", NULL});
    lab_wait(&lab, 1, &outcome);
    assert_string_equal(text_string(&outcome.output),
                        "HOME=/elsewhere\nMORE=a=b\nPATH=/bin:/sbin:/usr/bin:/usr/sbin\nTMPDIR=/tmp\n");
    outcome_free(&outcome);
    lab_end(&lab);
}

static void what_a_program_leaves_behind_ends_with_it(void **state)
{
    (void)state;
    struct lab lab;
    struct outcome outcome;
    int status = 0;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0); /* orphans become ours */
    lab_begin(&lab);
    lab_start_shell(&lab, 1, "sleep 30 & echo $!");
    lab_wait(&lab, 1, &outcome);
    assert_int_equal(outcome.code, 0);
    const pid_t left = (pid_t)strtol(text_string(&outcome.output), NULL, 10);
    assert_int_equal(waitpid(left, &status, 0), left);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    outcome_free(&outcome);
    lab_end(&lab);
}

static void it_runs_for_as_long_as_was_said_where_nothing_happens(void **state)
{
    (void)state;
    struct lab lab;
    struct event event;
    lab_begin(&lab);
    lab_start(&lab, 1, (const char *const[]){"cat", NULL}, NULL);
    const int64_t before_ns = os_now_ns();
    assert_true(lab_run(&lab, 20LL * MS));
    assert_true(os_now_ns() - before_ns >= 20LL * MS);
    assert_false(lab_event(&lab, &event));
    assert_true(lab_answer(&lab)); /* nothing asked: it calls again */
    lab_command(&lab, BOX_CLOSE, 1, NULL, 0);
    struct outcome outcome;
    lab_wait(&lab, 1, &outcome);
    lab_end(&lab);
}

static void expect_fault(int kind, const void *payload, size_t bytes, const char *words)
{
    struct lab lab;
    lab_begin(&lab);
    lab_command(&lab, kind, 1, payload, bytes);
    assert_false(lab_answer(&lab));
    lab_expect_fault(&lab, words);
}

static void a_broken_request_ends_it_with_words(void **state)
{
    (void)state;
    expect_fault(0, NULL, 0, "there is no command 0.");
    expect_fault(BOX_RUN, "1234", 4, "'run' has a time");
    expect_fault(BOX_SIGNAL, "12", 2, "without its number");
    expect_fault(BOX_START, "\1\0\0\0", 4, "without its words");
    expect_fault(BOX_START, "\1\0\0\0cat", 7, "without its words");
    expect_fault(BOX_START, "\3\0\0\0cat\0-n", 11, "without its words");
    expect_fault(BOX_START, "\xff\xff\xff\xff" "cat", 8, "without its words");
    expect_fault(BOX_START, "\1\0\0\0cat\0HOME", 13, "HOME=VALUE is expected");
    struct lab lab;
    lab_begin(&lab);
    text_add(&lab.request, "\2\0\0\0\1\0\0\0\xff\xff\xff\xff", 12);
    assert_false(lab_answer(&lab));
    lab_expect_fault(&lab, "command 2 says that it has 4294967295 bytes");
    lab_begin(&lab);
    text_add(&lab.request, "\2\0\0\0\1", 5);
    assert_false(lab_answer(&lab));
    lab_expect_fault(&lab, "ends within a command");
}

TESTS(cmocka_unit_test(the_first_call_tells_of_the_machine),
      cmocka_unit_test(what_a_program_says_comes_before_its_exit_code),
      cmocka_unit_test(input_ends_for_the_one_it_was_closed_for_however_many_there_are),
      cmocka_unit_test(nothing_is_lost_of_an_input_larger_than_a_pipe),
      cmocka_unit_test(what_finds_no_room_in_one_reply_comes_with_the_next),
      cmocka_unit_test(a_program_that_is_not_there_is_refused_and_nothing_else_suffers),
      cmocka_unit_test(a_program_has_the_usual_environment_and_what_it_was_given),
      cmocka_unit_test(what_a_program_leaves_behind_ends_with_it),
      cmocka_unit_test(it_runs_for_as_long_as_was_said_where_nothing_happens),
      cmocka_unit_test(a_broken_request_ends_it_with_words))
