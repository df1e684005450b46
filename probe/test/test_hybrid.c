#include "check.h"
#include "experiment/hybrid.h"

static const int64_t US = 1000;

static void learn(struct hybrid *hybrid, int64_t late_ns, int times)
{
    for (int i = 0; i < times; i++) {
        hybrid_learn(hybrid, late_ns);
    }
}

static struct hybrid *fresh(int64_t period_ns, int64_t arming_ns)
{
    static struct hybrid hybrid;
    hybrid = (struct hybrid){.period_ns = period_ns, .arming_ns = arming_ns};
    return &hybrid;
}

static void the_margin_covers_all_but_one_in_a_hundred(void **state)
{
    (void)state;
    struct hybrid *const hybrid = fresh(1000 * US, 2 * US);
    learn(hybrid, 5 * US, 990);
    learn(hybrid, 400 * US, 10);
    hybrid_settle(hybrid);
    assert_true(hybrid->settled && hybrid->sleeps);
    assert_int_equal(hybrid->margin_ns, 5 * US + HYBRID_BIN_NS);
}

static void of_few_wake_ups_the_latest_counts(void **state)
{
    (void)state;
    struct hybrid *const hybrid = fresh(1000 * US, 2 * US);
    learn(hybrid, 5 * US, 98);
    learn(hybrid, 400 * US, 1);
    hybrid_settle(hybrid);
    assert_int_equal(hybrid->margin_ns, 400 * US + HYBRID_BIN_NS);
}

static void the_margin_is_bounded(void **state)
{
    (void)state;
    struct hybrid *const hybrid = fresh(100000 * US, 2 * US);
    learn(hybrid, 50000 * US, 100);
    hybrid_settle(hybrid);
    assert_int_equal(hybrid->margin_ns, HYBRID_BINS * HYBRID_BIN_NS);
    assert_true(hybrid->sleeps);
}

static void who_wakes_within_three_quarters_of_the_period_sleeps(void **state)
{
    (void)state;
    struct hybrid *hybrid = fresh(20 * US, 5 * US);
    learn(hybrid, 10 * US - 1, 100);
    hybrid_settle(hybrid);
    assert_true(hybrid->sleeps);
    assert_true(hybrid_has_time(hybrid, hybrid->margin_ns + 5 * US + 1));
    assert_false(hybrid_has_time(hybrid, hybrid->margin_ns + 5 * US));
    hybrid = fresh(20 * US, 5 * US);
    learn(hybrid, 10 * US, 100);
    hybrid_settle(hybrid);
    assert_false(hybrid->sleeps);
    assert_false(hybrid_has_time(hybrid, 20 * US));
}

static void without_a_wake_up_it_polls(void **state)
{
    (void)state;
    struct hybrid *const hybrid = fresh(1000 * US, 0);
    hybrid_settle(hybrid);
    assert_true(hybrid->settled);
    assert_false(hybrid->sleeps);
}

static void programming_a_timer_takes_time(void **state)
{
    (void)state;
    struct hybrid *const hybrid = fresh(0, 0);
    hybrid_begin(hybrid, 1000 * US);
    assert_true(hybrid->arming_ns > 0 && hybrid->arming_ns < INT64_MAX);
    assert_false(hybrid->settled);
}

TESTS(cmocka_unit_test(the_margin_covers_all_but_one_in_a_hundred),
      cmocka_unit_test(of_few_wake_ups_the_latest_counts),
      cmocka_unit_test(the_margin_is_bounded),
      cmocka_unit_test(who_wakes_within_three_quarters_of_the_period_sleeps),
      cmocka_unit_test(without_a_wake_up_it_polls),
      cmocka_unit_test(programming_a_timer_takes_time))
