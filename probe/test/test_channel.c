/* Every kind of channel between two real threads, as far as this system has it. */
#include "os/channel.h"
#include "test/check.h"

#include <stdatomic.h>
#include <string.h>

enum { ROUNDS = 500, LARGE_ROUNDS = 10, MS = 1000000 };

struct two_ways {
    const struct os_channel_kind *kind;
    struct os_channel *there;
    struct os_channel *back;
    size_t bytes;
    int rounds;
    struct os_semaphore *bound;
    enum os_status status; /* of the answering thread */
    _Atomic int received;
    _Atomic bool waiting;
};

static const struct os_thread_attributes ordinary = {.name = "test", .cpu = OS_CPU_ANY};

static bool make(struct two_ways *ways, const struct os_channel_kind *kind, size_t bytes)
{
    const char *why = NULL;
    *ways = (struct two_ways){.kind = kind, .bytes = bytes};
    const enum os_status status = os_channel_create(&ways->there, kind, bytes, &why);
    if (status != OS_OK) {
        assert_true(strlen(why) > 0);
        print_message("%s: not shown, %s\n", kind->name, why);
        return false;
    }
    assert_string_equal(why, "");
    assert_int_equal(os_channel_create(&ways->back, kind, bytes, &why), OS_OK);
    assert_int_equal(os_semaphore_create(&ways->bound, 0), OS_OK);
    os_channel_bind_receiver(ways->back);
    return true;
}

static void destroy(struct two_ways *ways)
{
    os_channel_destroy(ways->there);
    os_channel_destroy(ways->back);
    os_semaphore_destroy(ways->bound);
}

static const struct os_channel_kind *kind_named(const char *name)
{
    const struct os_channel_kind *const *at_kind = os_channel_kinds;
    while (*at_kind != NULL && strcmp((*at_kind)->name, name) != 0) {
        at_kind++;
    }
    assert_non_null(*at_kind);
    return *at_kind;
}

/* What was received goes back, each byte one higher. */
static void answer(void *argument)
{
    struct two_ways *const ways = argument;
    os_channel_bind_receiver(ways->there);
    os_semaphore_post(ways->bound);
    for (int i = 0; i < ways->rounds && ways->status == OS_OK; i++) {
        ways->status = os_channel_receive(ways->there);
        ways->received++;
        for (size_t at = 0; ways->kind->most_bytes != NULL && at < ways->bytes; at++) {
            ways->back->outgoing[at] = (unsigned char)(ways->there->incoming[at] + 1);
        }
        if (ways->status == OS_OK) {
            ways->status = os_channel_send(ways->back);
        }
    }
}

static void exchange(struct two_ways *ways, int round)
{
    const bool carries = ways->kind->most_bytes != NULL;
    for (size_t at = 0; carries && at < ways->bytes; at++) {
        ways->there->outgoing[at] = (unsigned char)(round + (int)at);
    }
    assert_int_equal(ways->received, round);
    assert_int_equal(os_channel_send(ways->there), OS_OK);
    assert_int_equal(os_channel_receive(ways->back), OS_OK);
    assert_int_equal(ways->received, round + 1);
    bool arrived = true;
    for (size_t at = 0; carries && at < ways->bytes; at++) {
        arrived = arrived && ways->back->incoming[at] == (unsigned char)(round + (int)at + 1);
    }
    assert_true(arrived);
}

static void go_there_and_back(const struct os_channel_kind *kind, size_t bytes, int rounds)
{
    struct two_ways ways;
    struct os_thread *thread = NULL;
    if (!make(&ways, kind, bytes)) {
        return;
    }
    ways.rounds = rounds;
    assert_int_equal(os_thread_create(&thread, &ordinary, answer, &ways), OS_OK);
    assert_int_equal(os_semaphore_wait(ways.bound), OS_OK);
    for (int round = 0; round < rounds; round++) {
        exchange(&ways, round);
    }
    assert_int_equal(os_thread_join(thread), OS_OK);
    assert_int_equal(ways.status, OS_OK);
    destroy(&ways);
}

static void every_kind_wakes_and_carries_what_it_was_given(void **state)
{
    (void)state;
    for (const struct os_channel_kind *const *at_kind = os_channel_kinds; *at_kind != NULL; at_kind++) {
        go_there_and_back(*at_kind, 8, ROUNDS);
    }
}

static void the_largest_message_arrives_whole_and_a_larger_one_is_refused(void **state)
{
    (void)state;
    for (const struct os_channel_kind *const *at_kind = os_channel_kinds; *at_kind != NULL; at_kind++) {
        const struct os_channel_kind *const kind = *at_kind;
        const char *how_to_raise = NULL;
        const size_t most = os_channel_most_bytes(kind, &how_to_raise);
        assert_int_equal(most != 0, kind->most_bytes != NULL);
        if (most == 0) {
            continue;
        }
        assert_true(strlen(how_to_raise) > 0);
        go_there_and_back(kind, most > 65536 ? 65536 : most, LARGE_ROUNDS);
    }
    struct os_channel *channel = NULL;
    const char *why = NULL;
    assert_int_equal(os_channel_create(&channel, kind_named("udp"), 65508, &why), OS_INVALID);
    assert_true(strlen(why) > 0);
}

static void a_kind_that_leaves_the_real_time_domain_is_not_made_and_says_why(void **state)
{
    (void)state;
    struct os_channel_kind kind = *kind_named("pipe");
    struct os_channel *channel = NULL;
    const char *why = NULL;
    kind.leaves_realtime = "a pipe is served by the ordinary kernel";
    assert_int_equal(os_channel_create(&channel, &kind, 8, &why), OS_UNSUPPORTED);
    assert_string_equal(why, "a pipe is served by the ordinary kernel");
    assert_null(channel);
}

/* The first of them wakes nobody: it lies there when the receiver comes. */
static void two_messages_can_be_under_way(void **state)
{
    (void)state;
    for (const struct os_channel_kind *const *at_kind = os_channel_kinds; *at_kind != NULL; at_kind++) {
        struct two_ways ways;
        if (!make(&ways, *at_kind, 100)) {
            continue;
        }
        os_channel_bind_receiver(ways.there);
        assert_int_equal(os_channel_send(ways.there), OS_OK);
        assert_int_equal(os_channel_send(ways.there), OS_OK);
        assert_int_equal(os_channel_receive(ways.there), OS_OK);
        destroy(&ways);
    }
}

static void send_late(void *argument)
{
    struct two_ways *const ways = argument;
    os_sleep_until(os_now_ns() + 3LL * MS);
    ways->received = 1;
    ways->status = os_channel_send(ways->back);
}

/* A thread's pending signal, for one, outlives the channel that it was sent through. */
static void a_new_channel_knows_nothing_of_the_one_before(void **state)
{
    (void)state;
    for (const struct os_channel_kind *const *at_kind = os_channel_kinds; *at_kind != NULL; at_kind++) {
        struct two_ways ways;
        struct os_thread *thread = NULL;
        if (!make(&ways, *at_kind, 8)) {
            continue;
        }
        assert_int_equal(os_channel_send(ways.back), OS_OK); /* to us, and never received */
        destroy(&ways);
        assert_true(make(&ways, *at_kind, 8));
        assert_int_equal(os_thread_create(&thread, &ordinary, send_late, &ways), OS_OK);
        assert_int_equal(os_channel_receive(ways.back), OS_OK);
        assert_int_equal(ways.received, 1);
        assert_int_equal(os_thread_join(thread), OS_OK);
        assert_int_equal(ways.status, OS_OK);
        destroy(&ways);
    }
}

static void wait_for_nothing(void *argument)
{
    struct two_ways *const ways = argument;
    os_channel_bind_receiver(ways->there);
    ways->waiting = true;
    ways->status = os_channel_receive(ways->there);
    ways->waiting = false;
}

static void a_receiver_that_waits_in_vain_can_be_interrupted(void **state)
{
    (void)state;
    assert_int_equal(os_stop_listen(), OS_OK);
    for (const struct os_channel_kind *const *at_kind = os_channel_kinds; *at_kind != NULL; at_kind++) {
        struct two_ways ways;
        struct os_thread *thread = NULL;
        if (strcmp((*at_kind)->name, "condition") == 0 || !make(&ways, *at_kind, 8)) {
            continue; /* a condition variable knows no interruption */
        }
        assert_int_equal(os_thread_create(&thread, &ordinary, wait_for_nothing, &ways), OS_OK);
        while (!ways.waiting) {
            os_sleep_until(os_now_ns() + MS);
        }
        os_sleep_until(os_now_ns() + 5LL * MS);
        while (ways.waiting) {
            os_thread_interrupt(thread);
            os_sleep_until(os_now_ns() + MS);
        }
        assert_int_equal(os_thread_join(thread), OS_OK);
        assert_int_equal(ways.status, OS_INTERRUPTED);
        destroy(&ways);
    }
    assert_int_equal(os_stop_requested(), OS_STOP_NONE);
}

static void many_channels_one_after_the_other_leave_nothing_behind(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) { /* in all more than a process may have files or a user queues */
        for (const struct os_channel_kind *const *at_kind = os_channel_kinds; *at_kind != NULL; at_kind++) {
            struct two_ways ways;
            if (make(&ways, *at_kind, 8)) {
                destroy(&ways);
            }
        }
    }
}

TESTS(cmocka_unit_test(every_kind_wakes_and_carries_what_it_was_given),
      cmocka_unit_test(the_largest_message_arrives_whole_and_a_larger_one_is_refused),
      cmocka_unit_test(a_kind_that_leaves_the_real_time_domain_is_not_made_and_says_why),
      cmocka_unit_test(two_messages_can_be_under_way),
      cmocka_unit_test(a_new_channel_knows_nothing_of_the_one_before),
      cmocka_unit_test(a_receiver_that_waits_in_vain_can_be_interrupted),
      cmocka_unit_test(many_channels_one_after_the_other_leave_nothing_behind))
