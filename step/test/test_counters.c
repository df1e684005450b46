/* Counters of a thread: the software's stand in for cycles and instructions, which virtual machines rarely have. */
#include "os/counters.h"

#include "test/check.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096, PAGES = 1000 };

static const struct step_event software[EVENTS_LIMIT] = {
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
};

static void touch_new_pages(void)
{
    volatile char *const memory = malloc((size_t)PAGES * PAGE_BYTES);
    assert_non_null(memory);
    for (int i = 0; i < PAGES; i++) {
        memory[(size_t)i * PAGE_BYTES] = 1;
    }
    free((void *)memory);
}

static void events_are_counted_as_a_group(void **state)
{
    (void)state;
    struct step_counters counters;
    const char *why = NULL;
    if (!step_counters_open(&counters, software, &why)) {
        assert_non_null(why);
        skip();
    }
    int64_t before[EVENTS_LIMIT];
    int64_t after[EVENTS_LIMIT];
    step_counters_read(&counters, before);
    touch_new_pages();
    step_counters_read(&counters, after);
    assert_true(after[0] > before[0]); /* a huge page is one fault for many */
    assert_true(after[1] > before[1]);
    step_counters_close(&counters);
    step_counters_read(&counters, after);
    assert_true(after[0] == INT64_MIN && after[1] == INT64_MIN); /* closed, perhaps by the user's code: not known */
}

static void an_event_that_there_is_not_has_a_reason(void **state)
{
    (void)state;
    static const struct step_event none[EVENTS_LIMIT] = {
        {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}, {PERF_TYPE_SOFTWARE, UINT64_MAX}};
    struct step_counters counters;
    const char *why = NULL;
    assert_false(step_counters_open(&counters, none, &why));
    assert_non_null(why);
    assert_int_equal(counters.files[0], -1);
}

static void faults_are_told_of_the_calling_thread(void **state)
{
    (void)state;
    struct step_usage before;
    struct step_usage after;
    step_usage_read(&before);
    touch_new_pages();
    step_usage_read(&after);
    assert_true(after.minor > before.minor);
    assert_true(after.voluntary >= before.voluntary && after.involuntary >= before.involuntary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_counted_as_a_group),
        cmocka_unit_test(an_event_that_there_is_not_has_a_reason),
        cmocka_unit_test(faults_are_told_of_the_calling_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
