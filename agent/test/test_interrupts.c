/* Interrupts, as the real system counts them. */
#include "os/interrupts.h"
#include "test/check.h"

#include <stdatomic.h>
#include <string.h>

enum { MS = 1000000, USES = 500, SLEEPS = 100 };

static int32_t first_cpu(int32_t from)
{
    while (from < os_cpu_limit() && !(os_cpu_is_online(from) && os_cpu_is_inherited(from))) {
        from++;
    }
    return from;
}

static bool system_counts(void)
{
    const int32_t cpu = first_cpu(0);
    struct os_interrupt_counts counts;
    if (os_interrupts_count(&cpu, 1, &counts) == OS_OK) {
        return true;
    }
    print_message("not shown: this system does not tell its interrupts\n");
    return false;
}

static void sleep_often(void *argument)
{
    const int64_t begin_ns = os_now_ns();
    (void)argument;
    os_thread_sleep_exactly();
    for (int i = 1; i <= SLEEPS; i++) {
        os_sleep_until(begin_ns + (int64_t)i * MS);
    }
}

static void a_cpu_whose_timer_expires_counts_more(void **state)
{
    (void)state;
    const int32_t cpu = first_cpu(0);
    const struct os_thread_attributes there = {.name = "test", .cpu = cpu};
    struct os_interrupt_counts before;
    struct os_interrupt_counts after;
    struct os_thread *thread = NULL;
    if (!system_counts()) {
        return;
    }
    assert_int_equal(os_interrupts_count(&cpu, 1, &before), OS_OK);
    assert_int_equal(os_thread_create(&thread, &there, sleep_often, NULL), OS_OK);
    assert_int_equal(os_thread_join(thread), OS_OK);
    assert_int_equal(os_interrupts_count(&cpu, 1, &after), OS_OK);
    assert_true(after.all >= before.all + SLEEPS / 2); /* a thread that was kept from its CPU sleeps less often */
    for (size_t i = 0; i < after.names; i++) {
        assert_true(strlen(after.named[i].name) > 0 && strlen(after.named[i].name) < OS_INTERRUPT_NAME_BYTES);
        assert_true(after.named[i].count <= after.all);
    }
}

static void a_cpu_that_is_not_there_has_no_counts(void **state)
{
    (void)state;
    const int32_t cpus[] = {first_cpu(0), 1000000};
    struct os_interrupt_counts counts;
    if (system_counts()) {
        assert_int_equal(os_interrupts_count(cpus, 2, &counts), OS_INVALID);
        assert_int_equal(os_interrupts_count(cpus + 1, 1, &counts), OS_INVALID);
    }
}

struct busy {
    _Atomic bool runs;
    _Atomic bool ends;
};

static void be_busy(void *argument)
{
    struct busy *const busy = argument;
    while (!busy->ends) {
        busy->runs = true;
    }
}

/* How many there are depends on who else wants that CPU, so this shows only that it is done, again and again. */
static void a_busy_cpu_is_interrupted_by_another(void **state)
{
    (void)state;
    const int32_t here = first_cpu(0);
    const int32_t there = first_cpu(here + 1);
    const struct os_thread_attributes attributes = {
        .name = "test",
        .cpu = there < os_cpu_limit() ? there : here,
    };
    struct busy busy = {.runs = false};
    struct os_thread *thread = NULL;
    struct os_interrupter *interrupter = NULL;
    assert_int_equal(os_interrupter_create(&interrupter), OS_OK);
    assert_true(strlen(os_interrupter_way(interrupter)) > 0);
    assert_int_equal(os_thread_create(&thread, &attributes, be_busy, &busy), OS_OK);
    while (!busy.runs) {
        os_sleep_until(os_now_ns() + MS);
    }
    for (int i = 0; i < USES; i++) {
        assert_int_equal(os_interrupter_use(interrupter), OS_OK);
    }
    busy.ends = true;
    assert_int_equal(os_thread_join(thread), OS_OK);
    os_interrupter_destroy(interrupter);
}

TESTS(cmocka_unit_test(a_cpu_whose_timer_expires_counts_more), cmocka_unit_test(a_cpu_that_is_not_there_has_no_counts),
      cmocka_unit_test(a_busy_cpu_is_interrupted_by_another))
