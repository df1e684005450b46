/* A servant that is never left in peace rests, and one that waits by itself is left alone. */
#include "servant.h"
#include "test/check.h"

static const int64_t budget_ns = 100000000;

/* How often the calling thread has waited while the servant had work for so long. */
static int64_t waits_in(enum os_policy policy, int64_t work_ns)
{
    struct servant servant;
    const struct os_thread_attributes attributes = {.policy = policy, .cpu = OS_CPU_ANY};
    int64_t before = 0;
    int64_t after = 0;
    int64_t involuntary = 0;
    assert_int_equal(servant_begin(&servant, 0, &attributes, 0, budget_ns), OS_OK);
    os_thread_switches(&before, &involuntary);
    for (const int64_t end_ns = os_now_ns() + work_ns; os_now_ns() < end_ns;) {
        servant_rest_when_due(&servant);
    }
    os_thread_switches(&after, &involuntary);
    servant_end(&servant);
    return after - before;
}

static void one_that_always_has_work_rests_twice_within_the_watchdogs_budget(void **state)
{
    (void)state;
    assert_in_range(waits_in(OS_POLICY_FIFO, 5 * budget_ns), 4, 10);
    assert_in_range(waits_in(OS_POLICY_RR, 5 * budget_ns), 4, 10);
}

static void an_ordinary_one_needs_no_rest(void **state)
{
    (void)state;
    assert_in_range(waits_in(OS_POLICY_OTHER, 5 * budget_ns), 0, 2); /* the system itself may make it wait */
}

TESTS(cmocka_unit_test(one_that_always_has_work_rests_twice_within_the_watchdogs_budget),
      cmocka_unit_test(an_ordinary_one_needs_no_rest))
