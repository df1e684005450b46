/* Interrupts, as the real system counts them. */
#include "os/interrupts.h"
#include "test/check.h"

#include <stdatomic.h>
#include <stdio.h>
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
    struct os_interrupt_list list;
    const bool counts = os_interrupts_list(&list, &cpu, 1) == OS_OK;
    os_interrupt_list_free(&list);
    if (!counts) {
        print_message("not shown: this system does not tell its interrupts\n");
    }
    return counts;
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
    struct os_interrupt_list before;
    struct os_interrupt_list after;
    struct os_interrupt_counts counts;
    struct os_thread *thread = NULL;
    if (!system_counts()) {
        return;
    }
    assert_int_equal(os_interrupts_list(&before, &cpu, 1), OS_OK);
    assert_int_equal(os_thread_create(&thread, &there, sleep_often, NULL), OS_OK);
    assert_int_equal(os_thread_join(thread), OS_OK);
    assert_int_equal(os_interrupts_list(&after, &cpu, 1), OS_OK);
    os_interrupts_between(&before, &after, &counts);
    assert_true(counts.all >= SLEEPS / 2); /* a thread that was kept from its CPU sleeps less often */
    assert_true(counts.all < UINT32_MAX);
    for (size_t i = 0; i < counts.names; i++) {
        assert_true(strlen(counts.named[i].name) > 0 && strlen(counts.named[i].name) < OS_INTERRUPT_NAME_BYTES);
        assert_true(counts.named[i].count <= counts.all);
    }
    os_interrupt_list_free(&before);
    os_interrupt_list_free(&after);
}

static void a_cpu_that_is_not_there_has_no_counts(void **state)
{
    (void)state;
    const int32_t cpus[] = {first_cpu(0), 1000000};
    struct os_interrupt_list list;
    if (system_counts()) {
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(os_interrupts_list(&list, cpus + i, 2 - i), OS_INVALID);
            os_interrupt_list_free(&list);
        }
    }
}

static void add_line(struct os_interrupt_list *list, const char *known_as, uint64_t first, uint64_t second)
{
    char name[OS_INTERRUPT_NAME_BYTES] = "";
    (void)snprintf(name, sizeof name, "%s", known_as);
    text_add(&list->lines, name, sizeof name);
    text_add(&list->lines, &first, sizeof first);
    text_add(&list->lines, &second, sizeof second);
}

static void counts_go_on_beyond_their_32_bits(void **state)
{
    (void)state;
    struct os_interrupt_list before = {.cpu_count = 2};
    struct os_interrupt_list after = {.cpu_count = 2};
    struct os_interrupt_counts counts;
    add_line(&before, "24", UINT32_MAX, 1000); /* the second was another device's */
    add_line(&before, "25", 7, 7);             /* gone */
    add_line(&before, "LOC", UINT32_MAX - 99, 10);
    add_line(&before, "NMI", 3, 3);
    add_line(&after, "24", 9, 2);
    add_line(&after, "26", 1, 0);
    add_line(&after, "LOC", 900, 30);
    add_line(&after, "NMI", 3, 3);
    os_interrupts_between(&before, &after, &counts);
    assert_int_equal(counts.all, 10 + 2 + 1 + 1000 + 20);
    assert_int_equal(counts.names, 1);
    assert_string_equal(counts.named[0].name, "LOC");
    assert_int_equal(counts.named[0].count, 1000 + 20);
    os_interrupt_list_free(&before);
    os_interrupt_list_free(&after);
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
      cmocka_unit_test(counts_go_on_beyond_their_32_bits),
      cmocka_unit_test(a_busy_cpu_is_interrupted_by_another))
