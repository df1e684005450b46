#include "os/os.h"
#include "test/check.h"

enum { ROUNDS = 20000, MS = 1000000 };

static const struct os_thread_attributes ordinary = {.name = "test", .cpu = OS_CPU_ANY};

struct shared {
    struct os_spin_lock *spin;
    struct os_rw_lock *rw;
    struct os_mutex *mutex;
    struct os_condition *condition;
    struct os_semaphore *reading;
    struct os_semaphore *leave;
    int64_t counter; /* guarded by the lock under test, and by nothing else */
    bool flag;
    _Atomic bool wrote;
    enum os_status status;
};

static struct os_thread *begin(os_thread_entry entry, struct shared *shared)
{
    struct os_thread *thread = NULL;
    assert_int_equal(os_thread_create(&thread, &ordinary, entry, shared), OS_OK);
    return thread;
}

static bool has_spin_locks(void)
{
    return os_service_available(OS_SERVICE_SPIN_LOCK).availability == OS_PRESENT;
}

static void count_under_spin_lock(void *argument)
{
    struct shared *const shared = argument;
    for (int i = 0; i < ROUNDS; i++) {
        if (os_spin_lock_acquire(shared->spin, 20000LL * MS) == OS_OK) {
            shared->counter++;
            os_spin_lock_release(shared->spin);
        }
    }
}

static void count_as_writer(void *argument)
{
    struct shared *const shared = argument;
    for (int i = 0; i < ROUNDS; i++) {
        os_rw_lock_write(shared->rw);
        shared->counter++;
        os_rw_lock_release(shared->rw);
    }
}

static void a_spin_lock_lets_one_in_at_a_time(void **state)
{
    (void)state;
    struct shared shared = {0};
    if (!has_spin_locks()) {
        assert_int_equal(os_spin_lock_create(&shared.spin), OS_UNSUPPORTED);
        print_message("not shown: this system has no spin lock\n");
        skip();
    }
    assert_int_equal(os_spin_lock_create(&shared.spin), OS_OK);
    struct os_thread *const other = begin(count_under_spin_lock, &shared);
    count_under_spin_lock(&shared);
    assert_int_equal(os_thread_join(other), OS_OK);
    assert_int_equal(shared.counter, 2 * ROUNDS);
    os_spin_lock_destroy(shared.spin);
}

static void spin_in_vain(void *argument)
{
    struct shared *const shared = argument;
    shared->status = os_spin_lock_acquire(shared->spin, 30LL * MS);
}

static void who_spins_in_vain_gives_up_after_the_patience_and_not_before(void **state)
{
    (void)state;
    struct shared shared = {0};
    if (!has_spin_locks()) {
        print_message("not shown: this system has no spin lock\n");
        skip();
    }
    assert_int_equal(os_spin_lock_create(&shared.spin), OS_OK);
    assert_int_equal(os_spin_lock_acquire(shared.spin, 0), OS_OK);
    const int64_t before_ns = os_now_ns();
    assert_int_equal(os_thread_join(begin(spin_in_vain, &shared)), OS_OK);
    assert_int_equal(shared.status, OS_TIMED_OUT);
    assert_true(os_now_ns() - before_ns >= 30LL * MS);
    assert_int_equal(os_spin_lock_release(shared.spin), OS_OK);
    os_spin_lock_destroy(shared.spin);
}

static void writers_come_one_at_a_time(void **state)
{
    (void)state;
    struct shared shared = {0};
    assert_int_equal(os_rw_lock_create(&shared.rw), OS_OK);
    struct os_thread *const other = begin(count_as_writer, &shared);
    count_as_writer(&shared);
    assert_int_equal(os_thread_join(other), OS_OK);
    assert_int_equal(shared.counter, 2 * ROUNDS);
    os_rw_lock_destroy(shared.rw);
}

static void read_for_a_while(void *argument)
{
    struct shared *const shared = argument;
    os_rw_lock_read(shared->rw);
    os_semaphore_post(shared->reading);
    os_semaphore_wait(shared->leave);
    os_rw_lock_release(shared->rw);
}

static void write_once(void *argument)
{
    struct shared *const shared = argument;
    os_rw_lock_write(shared->rw);
    shared->wrote = true;
    os_rw_lock_release(shared->rw);
}

static void readers_share_and_keep_a_writer_out(void **state)
{
    (void)state;
    struct shared shared = {0};
    assert_int_equal(os_rw_lock_create(&shared.rw), OS_OK);
    assert_int_equal(os_semaphore_create(&shared.reading, 0), OS_OK);
    assert_int_equal(os_semaphore_create(&shared.leave, 0), OS_OK);
    struct os_thread *const first = begin(read_for_a_while, &shared);
    struct os_thread *const second = begin(read_for_a_while, &shared);
    os_semaphore_wait(shared.reading);
    os_semaphore_wait(shared.reading); /* both are in */
    struct os_thread *const writer = begin(write_once, &shared);
    os_sleep_until(os_now_ns() + 30LL * MS);
    assert_false(shared.wrote);
    os_semaphore_post(shared.leave);
    os_semaphore_post(shared.leave);
    assert_int_equal(os_thread_join(writer), OS_OK);
    assert_true(shared.wrote);
    assert_int_equal(os_thread_join(first), OS_OK);
    assert_int_equal(os_thread_join(second), OS_OK);
    os_rw_lock_destroy(shared.rw);
    os_semaphore_destroy(shared.reading);
    os_semaphore_destroy(shared.leave);
}

static void wait_for_flag(void *argument)
{
    struct shared *const shared = argument;
    os_mutex_lock(shared->mutex);
    while (!shared->flag) {
        os_condition_wait(shared->condition, shared->mutex);
    }
    shared->counter++;
    os_mutex_unlock(shared->mutex);
}

static void a_condition_releases_its_mutex_while_waiting_and_holds_it_again_after(void **state)
{
    (void)state;
    for (int protocol = OS_MUTEX_NONE; protocol <= OS_MUTEX_INHERIT; protocol++) {
        struct shared shared = {0};
        assert_int_equal(os_condition_create(&shared.condition), OS_OK);
        const enum os_status made = os_mutex_create(&shared.mutex, (enum os_mutex_protocol)protocol, 0);
        if (made == OS_OK) {
            struct os_thread *const first = begin(wait_for_flag, &shared);
            struct os_thread *const second = begin(wait_for_flag, &shared);
            os_mutex_lock(shared.mutex);
            shared.flag = true;
            os_condition_signal(shared.condition);
            os_condition_signal(shared.condition);
            os_mutex_unlock(shared.mutex);
            assert_int_equal(os_thread_join(first), OS_OK);
            assert_int_equal(os_thread_join(second), OS_OK);
            assert_int_equal(shared.counter, 2);
        } else {
            assert_int_equal(made, OS_UNSUPPORTED);
        }
        os_mutex_destroy(shared.mutex);
        os_condition_destroy(shared.condition);
    }
}

TESTS(cmocka_unit_test(a_spin_lock_lets_one_in_at_a_time),
      cmocka_unit_test(who_spins_in_vain_gives_up_after_the_patience_and_not_before),
      cmocka_unit_test(writers_come_one_at_a_time), cmocka_unit_test(readers_share_and_keep_a_writer_out),
      cmocka_unit_test(a_condition_releases_its_mutex_while_waiting_and_holds_it_again_after))
