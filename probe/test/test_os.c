/* The operating system interface on the real system, as far as this user is allowed to go. */
#include "os/os.h"
#include "test/check.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MS = 1000000 };

static void the_clock_never_goes_back_and_sleep_ends_after_its_instant(void **state)
{
    (void)state;
    int64_t before = os_now_ns();
    for (int i = 0; i < 10000; i++) {
        const int64_t now = os_now_ns();
        assert_true(now >= before);
        before = now;
    }
    const int64_t instant = os_now_ns() + 5LL * MS;
    assert_int_equal(os_sleep_until(instant), OS_OK);
    assert_true(os_now_ns() >= instant);
    assert_int_equal(os_sleep_until(os_now_ns() - MS), OS_OK);
}

static void every_clock_has_a_name_and_moves_on(void **state)
{
    (void)state;
    assert_string_equal(os_clock_name(0), "monotonic");
    for (size_t clock = 0; clock < os_clock_count(); clock++) {
        const int64_t before = os_clock_read_ns(clock);
        const int64_t until = os_now_ns() + 30LL * MS;
        while (os_now_ns() < until) {
        }
        assert_true(os_clock_read_ns(clock) > before);
    }
}

struct pair {
    struct os_semaphore *ping;
    struct os_semaphore *pong;
    struct os_fifo *fifo;
    struct os_message_queue *queue;
    struct os_thread_obtained obtained;
    _Atomic int count;
};

static void answer_semaphores(void *argument)
{
    struct pair *const pair = argument;
    for (int i = 0; i < 1000; i++) {
        os_semaphore_wait(pair->ping);
        pair->count++;
        os_semaphore_post(pair->pong);
    }
}

static const struct os_thread_attributes ordinary = {.name = "test", .cpu = OS_CPU_ANY};

static void semaphores_hand_over_and_time_out(void **state)
{
    (void)state;
    struct pair pair = {0};
    struct os_thread *thread = NULL;
    assert_int_equal(os_semaphore_create(&pair.ping, 0), OS_OK);
    assert_int_equal(os_semaphore_create(&pair.pong, 0), OS_OK);
    assert_int_equal(os_semaphore_wait_for(pair.pong, MS), OS_TIMED_OUT);
    assert_int_equal(os_thread_create(&thread, &ordinary, answer_semaphores, &pair), OS_OK);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(pair.count, i);
        os_semaphore_post(pair.ping);
        assert_int_equal(os_semaphore_wait(pair.pong), OS_OK);
    }
    assert_int_equal(os_thread_join(thread), OS_OK);
    os_semaphore_destroy(pair.ping);
    os_semaphore_destroy(pair.pong);
}

static void send_messages(void *argument)
{
    struct pair *const pair = argument;
    for (int64_t i = 0; i < 1000; i++) {
        os_fifo_write(pair->fifo, &i, sizeof i);
        os_message_queue_send(pair->queue, &i, sizeof i);
    }
}

static void fifo_and_message_queue_keep_order_and_content(void **state)
{
    (void)state;
    struct pair pair = {0};
    struct os_thread *thread = NULL;
    assert_int_equal(os_fifo_create(&pair.fifo), OS_OK);
    assert_int_equal(os_message_queue_create(&pair.queue, 4, sizeof(int64_t)), OS_OK);
    assert_int_equal(os_thread_create(&thread, &ordinary, send_messages, &pair), OS_OK);
    for (int64_t i = 0; i < 1000; i++) {
        int64_t from_fifo = -1;
        int64_t from_queue = -1;
        size_t bytes = 0;
        assert_int_equal(os_fifo_read(pair.fifo, &from_fifo, sizeof from_fifo), OS_OK);
        assert_int_equal(os_message_queue_receive(pair.queue, &from_queue, &bytes), OS_OK);
        assert_int_equal(from_fifo, i);
        assert_int_equal(from_queue, i);
        assert_int_equal(bytes, sizeof from_queue);
    }
    assert_int_equal(os_thread_join(thread), OS_OK);
    os_fifo_destroy(pair.fifo);
    os_message_queue_destroy(pair.queue);
}

struct locking {
    struct os_mutex *mutex;
    enum os_status locked;
    enum os_status unlocked;
};

static void lock_and_unlock(void *argument)
{
    struct locking *const locking = argument;
    locking->locked = os_mutex_lock(locking->mutex);
    locking->unlocked = os_mutex_unlock(locking->mutex);
}

/* A ceiling can only be taken by a thread that has a real-time priority to raise. */
static void mutexes_of_each_protocol_lock_or_say_that_they_do_not_exist(void **state)
{
    (void)state;
    const bool real_time = os_service_available(OS_SERVICE_POLICY_FIFO).availability == OS_PRESENT;
    const struct os_thread_attributes attributes = {
        .policy = real_time ? OS_POLICY_FIFO : OS_POLICY_OTHER, .below_highest = 10, .cpu = OS_CPU_ANY};
    for (int protocol = OS_MUTEX_NONE; protocol <= OS_MUTEX_PROTECT; protocol++) {
        struct locking locking = {0};
        struct os_thread *thread = NULL;
        const enum os_status status = os_mutex_create(&locking.mutex, (enum os_mutex_protocol)protocol, 0);
        if (status != OS_OK) {
            assert_int_equal(status, OS_UNSUPPORTED);
            assert_int_equal(os_service_available(OS_SERVICE_MUTEX_PROTECT).availability, OS_ABSENT);
            continue;
        }
        if (real_time || protocol != OS_MUTEX_PROTECT) {
            assert_int_equal(os_thread_create(&thread, &attributes, lock_and_unlock, &locking), OS_OK);
            assert_int_equal(os_thread_join(thread), OS_OK);
            assert_int_equal(locking.locked, OS_OK);
            assert_int_equal(locking.unlocked, OS_OK);
        }
        os_mutex_destroy(locking.mutex);
    }
}

static void read_back(void *argument)
{
    struct pair *const pair = argument;
    os_thread_read_back(&pair->obtained);
}

static int32_t first_allowed_cpu(void)
{
    int32_t cpu = 0;
    while (!os_cpu_is_allowed(cpu)) {
        cpu++;
    }
    return cpu;
}

static void a_thread_has_the_attributes_that_it_was_given(void **state)
{
    (void)state;
    const int32_t cpu = first_allowed_cpu();
    for (int policy = OS_POLICY_OTHER; policy <= OS_POLICY_RR; policy++) {
        struct pair pair = {0};
        struct os_thread *thread = NULL;
        const struct os_thread_attributes wanted = {
            .name = "test", .policy = (enum os_policy)policy, .below_highest = 40, .cpu = cpu};
        const enum os_status status = os_thread_create(&thread, &wanted, read_back, &pair);
        if (status == OS_NOT_PERMITTED && policy != OS_POLICY_OTHER) {
            continue; /* then os_service_available must say so, below */
        }
        assert_int_equal(status, OS_OK);
        assert_int_equal(os_thread_join(thread), OS_OK);
        assert_int_equal(pair.obtained.policy, policy);
        assert_int_equal(pair.obtained.cpu, cpu);
        assert_int_equal(pair.obtained.native_priority, os_priority_to_native((enum os_policy)policy, 40));
    }
}

struct adopter {
    struct os_thread_attributes wanted[5];
    enum os_status status[5];
    struct os_thread_obtained obtained[5];
};

static void take_on_one_after_the_other(void *argument)
{
    struct adopter *const adopter = argument;
    for (size_t i = 0; i < 5; i++) {
        adopter->status[i] = os_thread_adopt(&adopter->wanted[i]);
        os_thread_read_back(&adopter->obtained[i]);
    }
}

static void a_thread_takes_on_other_attributes_again_and_again(void **state)
{
    (void)state;
    const int32_t cpu = first_allowed_cpu();
    struct adopter adopter = {
        .wanted = {
            {.policy = OS_POLICY_DEADLINE,
             .cpu = OS_CPU_ANY,
             .runtime_ns = MS,
             .deadline_ns = 50LL * MS,
             .period_ns = 50LL * MS},
            {.policy = OS_POLICY_FIFO, .below_highest = 40, .cpu = OS_CPU_ANY},
            {.policy = OS_POLICY_RR, .below_highest = 41, .cpu = cpu},
            {.policy = OS_POLICY_FIFO, .below_highest = 39, .cpu = cpu},
            {.policy = OS_POLICY_OTHER, .cpu = cpu},
        }};
    struct os_thread *thread = NULL;
    assert_int_equal(os_thread_create(&thread, &ordinary, take_on_one_after_the_other, &adopter), OS_OK);
    assert_int_equal(os_thread_join(thread), OS_OK);
    for (size_t i = 0; i < 5; i++) {
        const struct os_thread_attributes *const wanted = &adopter.wanted[i];
        if (adopter.status[i] != OS_OK && wanted->policy != OS_POLICY_OTHER) {
            assert_true(adopter.status[i] == OS_NOT_PERMITTED || wanted->policy == OS_POLICY_DEADLINE);
            continue;
        }
        assert_int_equal(adopter.status[i], OS_OK);
        assert_int_equal(adopter.obtained[i].policy, wanted->policy);
        assert_int_equal(adopter.obtained[i].native_priority,
                         os_priority_to_native(wanted->policy, wanted->below_highest));
        if (wanted->cpu != OS_CPU_ANY) {
            assert_int_equal(adopter.obtained[i].cpu, cpu);
        }
    }
}

static void priorities_are_levels_below_the_highest(void **state)
{
    (void)state;
    int32_t below = -1;
    const int64_t highest = os_priority_to_native(OS_POLICY_FIFO, 0);
    assert_int_equal(os_priority_from_native(OS_POLICY_FIFO, highest - 5, &below), OS_OK);
    assert_int_equal(below, 5);
    assert_int_equal(os_priority_from_native(OS_POLICY_FIFO, highest + 1, &below), OS_INVALID);
    assert_int_equal(os_priority_from_native(OS_POLICY_FIFO, highest - os_priority_levels(OS_POLICY_FIFO), &below),
                     OS_INVALID);
    assert_int_equal(os_priority_from_native(OS_POLICY_OTHER, 0, &below), OS_INVALID);
}

static void post_notice(void *argument)
{
    assert_int_equal(os_notice_post(argument), OS_OK);
}

static void the_ordinary_side_waits_for_a_notice_of_a_real_time_thread(void **state)
{
    (void)state;
    struct os_notice *notice = NULL;
    struct os_thread *thread = NULL;
    assert_int_equal(os_notice_create(&notice), OS_OK);
    assert_int_equal(os_notice_wait_for(notice, MS), OS_TIMED_OUT);
    assert_int_equal(os_thread_create(&thread, &ordinary, post_notice, notice), OS_OK);
    assert_int_equal(os_notice_wait_for(notice, 10000LL * MS), OS_OK);
    assert_int_equal(os_notice_wait_for(notice, MS), OS_TIMED_OUT);
    assert_int_equal(os_thread_join(thread), OS_OK);
    os_notice_destroy(notice);
}

static void an_output_does_not_take_the_number_of_a_closed_standard_error(void **state)
{
    (void)state;
    int how = 0;
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        struct os_output output = {0};
        close(STDERR_FILENO);
        _exit(os_output_open("/dev/null", &output) == OS_OK && output.handle > STDERR_FILENO ? 0 : 1);
    }
    assert_int_equal(waitpid(process, &how, 0), process);
    assert_int_equal(how, 0);
}

static void every_service_answers_and_gives_a_reason_when_it_is_missing(void **state)
{
    (void)state;
    for (int service = 0; service < OS_SERVICE_COUNT; service++) {
        const struct os_answer answer = os_service_available((enum os_service)service);
        assert_true(strlen(os_service_name((enum os_service)service)) > 0);
        assert_true(answer.availability == OS_PRESENT || strlen(answer.why) > 0);
    }
    assert_int_equal(os_service_available(OS_SERVICE_SUSPEND_RESUME).availability, OS_ABSENT);
}

static void sleep_long(void *argument)
{
    struct pair *const pair = argument;
    pair->count = 1;
    pair->count = os_sleep_until(os_now_ns() + 60000LL * MS) == OS_INTERRUPTED ? 2 : 3;
}

static void a_sleeping_thread_can_be_interrupted(void **state)
{
    (void)state;
    struct pair pair = {0};
    struct os_thread *thread = NULL;
    assert_int_equal(os_stop_listen(), OS_OK);
    assert_int_equal(os_thread_create(&thread, &ordinary, sleep_long, &pair), OS_OK);
    assert_int_equal(os_thread_suspend(thread), OS_UNSUPPORTED);
    assert_int_equal(os_thread_resume(thread), OS_UNSUPPORTED);
    while (pair.count < 2) {
        assert_int_equal(os_thread_interrupt(thread), OS_OK);
        os_sleep_until(os_now_ns() + MS);
    }
    assert_int_equal(pair.count, 2);
    assert_int_equal(os_thread_join(thread), OS_OK);
    assert_int_equal(os_stop_requested(), OS_STOP_NONE);
}

static void spin_until_stopped(void *argument)
{
    struct pair *const pair = argument;
    const int64_t give_up = os_now_ns() + 20000LL * MS;
    while (os_stop_requested() == OS_STOP_NONE && os_now_ns() < give_up) {
    }
    pair->count = 1;
}

/* Last: the flag stays set. */
static void the_watchdog_ends_a_real_time_thread_that_never_sleeps(void **state)
{
    (void)state;
    if (os_service_available(OS_SERVICE_POLICY_FIFO).availability != OS_PRESENT) {
        print_message("not shown: this user may not use policy fifo\n");
        skip();
    }
    struct pair pair = {0};
    struct os_thread *thread = NULL;
    const struct os_thread_attributes highest = {.name = "spin", .policy = OS_POLICY_FIFO, .cpu = first_allowed_cpu()};
    assert_int_equal(os_stop_listen(), OS_OK);
    int64_t obtained_ns = 0;
    assert_int_equal(os_watchdog_start(300LL * MS, &obtained_ns), OS_OK);
    assert_int_equal(obtained_ns, 300LL * MS);
    assert_int_equal(os_thread_create(&thread, &highest, spin_until_stopped, &pair), OS_OK);
    assert_int_equal(os_thread_join(thread), OS_OK);
    assert_int_equal(pair.count, 1);
    assert_int_equal(os_stop_requested(), OS_STOP_WATCHDOG);
}

struct budgeted {
    int64_t overruns;
};

/* Needs half a second of CPU time, and may have 2 ms in every 20. */
static void use_up(void *argument)
{
    struct budgeted *const budgeted = argument;
    const int64_t end_ns = os_now_ns() + 500LL * MS;
    while (os_now_ns() < end_ns) {
    }
    budgeted->overruns = os_thread_budget_overruns();
}

static void a_budget_that_is_used_up_is_counted_and_ends_nothing(void **state)
{
    (void)state;
    struct budgeted budgeted = {.overruns = -1};
    struct os_thread *thread = NULL;
    const struct os_thread_attributes attributes = {.name = "budget", .policy = OS_POLICY_DEADLINE, .cpu = OS_CPU_ANY,
                                                   .runtime_ns = 2LL * MS, .deadline_ns = 20LL * MS, .period_ns = 20LL * MS};
    assert_int_equal(os_stop_listen(), OS_OK);
    const enum os_status status = os_thread_create(&thread, &attributes, use_up, &budgeted);
    if (status != OS_OK) {
        print_message("not shown: no deadline thread: %s\n", os_status_text(status));
        skip();
    }
    os_thread_join(thread);
    if (budgeted.overruns == INT64_MIN) {
        print_message("not shown: this system does not tell\n");
        skip();
    }
    assert_true(budgeted.overruns > 0 && budgeted.overruns <= 25);
    assert_int_equal(os_stop_requested(), OS_STOP_NONE);
    assert_true(os_thread_budget_overruns() == INT64_MIN); /* this thread has none */
}

TESTS(cmocka_unit_test(the_clock_never_goes_back_and_sleep_ends_after_its_instant),
      cmocka_unit_test(every_clock_has_a_name_and_moves_on), cmocka_unit_test(semaphores_hand_over_and_time_out),
      cmocka_unit_test(fifo_and_message_queue_keep_order_and_content),
      cmocka_unit_test(mutexes_of_each_protocol_lock_or_say_that_they_do_not_exist),
      cmocka_unit_test(a_thread_has_the_attributes_that_it_was_given),
      cmocka_unit_test(a_thread_takes_on_other_attributes_again_and_again),
      cmocka_unit_test(priorities_are_levels_below_the_highest),
      cmocka_unit_test(the_ordinary_side_waits_for_a_notice_of_a_real_time_thread),
      cmocka_unit_test(an_output_does_not_take_the_number_of_a_closed_standard_error),
      cmocka_unit_test(every_service_answers_and_gives_a_reason_when_it_is_missing),
      cmocka_unit_test(a_sleeping_thread_can_be_interrupted),
      cmocka_unit_test(a_budget_that_is_used_up_is_counted_and_ends_nothing),
      cmocka_unit_test(the_watchdog_ends_a_real_time_thread_that_never_sleeps))
