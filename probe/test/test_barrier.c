#include "os/os.h"
#include "test/check.h"

#include <stdatomic.h>

enum { ROUNDS = 10000, MANY = 5, MS = 1000000 };
static const int64_t spin_ns = 20000;

struct meeting {
    struct os_barrier *barrier;
    uint32_t count;
    /* Plain memory that only the barrier guards, so that the thread sanitizer sees whether it does. */
    int slots[MANY];
    int decision;
    int opened;
    atomic_int early; /* somebody had not come when the others went on */
    atomic_int astray; /* the last one's word was not there */
};

struct guest {
    struct meeting *meeting;
    uint32_t place;
};

static void decide(struct meeting *meeting, int round)
{
    for (uint32_t i = 0; i < meeting->count; i++) {
        if (meeting->slots[i] != round) {
            atomic_fetch_add(&meeting->early, 1);
        }
    }
    meeting->opened++;
    meeting->decision = 3 * round;
}

static void meet_again_and_again(void *argument)
{
    const struct guest *const guest = argument;
    struct meeting *const meeting = guest->meeting;
    for (int round = 1; round <= ROUNDS; round++) {
        meeting->slots[guest->place] = round;
        if (os_barrier_meet(meeting->barrier)) {
            decide(meeting, round);
            os_barrier_open(meeting->barrier);
        }
        if (meeting->decision != 3 * round) {
            atomic_fetch_add(&meeting->astray, 1);
        }
    }
}

static void meet(uint32_t count, int64_t patience_ns)
{
    static const struct os_thread_attributes ordinary = {.name = "guest", .cpu = OS_CPU_ANY};
    struct meeting meeting = {.count = count};
    struct guest guests[MANY];
    struct os_thread *threads[MANY] = {0};
    assert_int_equal(os_barrier_create(&meeting.barrier, count, patience_ns), OS_OK);
    for (uint32_t i = 0; i < count; i++) {
        guests[i] = (struct guest){&meeting, i};
        assert_int_equal(os_thread_create(&threads[i], &ordinary, meet_again_and_again, &guests[i]), OS_OK);
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(os_thread_join(threads[i]), OS_OK);
    }
    assert_int_equal(atomic_load(&meeting.early), 0);
    assert_int_equal(atomic_load(&meeting.astray), 0);
    assert_int_equal(meeting.opened, ROUNDS);
    os_barrier_destroy(meeting.barrier);
}

static void nobody_goes_on_before_all_have_come_and_one_is_the_last(void **state)
{
    (void)state;
    meet(2, 0);
    meet(2, spin_ns);
}

static void more_threads_than_cpus_meet(void **state)
{
    (void)state;
    meet(MANY, 0);
    meet(MANY, spin_ns);
}

static void one_thread_alone_never_waits(void **state)
{
    (void)state;
    meet(1, 0);
    meet(1, 1000LL * MS);
}

static void come_and_wait(void *argument)
{
    struct meeting *const meeting = argument;
    meeting->opened = os_barrier_meet(meeting->barrier) ? 1 : 0;
    atomic_store(&meeting->early, 1);
}

static void the_others_stay_until_the_last_one_opens(void **state)
{
    (void)state;
    static const struct os_thread_attributes ordinary = {.name = "guest", .cpu = OS_CPU_ANY};
    struct meeting meeting = {.count = 2, .opened = -1};
    struct os_thread *first = NULL;
    assert_int_equal(os_barrier_create(&meeting.barrier, 2, spin_ns), OS_OK);
    assert_int_equal(os_thread_create(&first, &ordinary, come_and_wait, &meeting), OS_OK);
    os_sleep_until(os_now_ns() + 20LL * MS);
    assert_true(os_barrier_meet(meeting.barrier));
    os_sleep_until(os_now_ns() + 20LL * MS);
    assert_int_equal(atomic_load(&meeting.early), 0);
    os_barrier_open(meeting.barrier);
    assert_int_equal(os_thread_join(first), OS_OK);
    assert_int_equal(atomic_load(&meeting.early), 1);
    assert_int_equal(meeting.opened, 0);
    os_barrier_destroy(meeting.barrier);
    os_barrier_destroy(NULL);
}

static void waiting_asleep_costs_no_cpu_time(void **state)
{
    (void)state;
    static const struct os_thread_attributes ordinary = {.name = "guest", .cpu = OS_CPU_ANY};
    struct meeting meeting = {.count = 2};
    struct os_thread *first = NULL;
    assert_int_equal(os_barrier_create(&meeting.barrier, 2, 0), OS_OK);
    assert_int_equal(os_thread_create(&first, &ordinary, come_and_wait, &meeting), OS_OK);
    os_sleep_until(os_now_ns() + 100LL * MS);
    assert_true(os_thread_cpu_time_of(first) < 50LL * MS);
    assert_true(os_barrier_meet(meeting.barrier));
    os_barrier_open(meeting.barrier);
    assert_int_equal(os_thread_join(first), OS_OK);
    os_barrier_destroy(meeting.barrier);
}

static void switches_of_a_thread_are_counted(void **state)
{
    (void)state;
    int64_t before = 0;
    int64_t after = 0;
    int64_t involuntary = 0;
    os_thread_switches(&before, &involuntary);
    if (before == INT64_MIN) {
        assert_int_equal(involuntary, INT64_MIN);
        print_message("not shown: this system does not count them\n");
        return;
    }
    for (int i = 0; i < 5; i++) {
        os_sleep_until(os_now_ns() + MS);
    }
    os_thread_switches(&after, &involuntary);
    assert_in_range(after - before, 5, 50);
    assert_true(involuntary >= 0);
}

TESTS(cmocka_unit_test(nobody_goes_on_before_all_have_come_and_one_is_the_last),
      cmocka_unit_test(more_threads_than_cpus_meet), cmocka_unit_test(one_thread_alone_never_waits),
      cmocka_unit_test(the_others_stay_until_the_last_one_opens), cmocka_unit_test(waiting_asleep_costs_no_cpu_time),
      cmocka_unit_test(switches_of_a_thread_are_counted))
