/* How the kernel describes its timer events, as several kernels do; and the real thing, where this user may. */
#include "os/posix/timer_trace_format.h"
#include "os/timer_trace.h"
#include "test/check.h"

#include <string.h>

enum { MS = 1000000 };

/* Linux 6.18, x86-64 */
static const char start_format[] =
    "name: hrtimer_start\nID: 460\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:void * hrtimer;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:void * function;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:s64 expires;\toffset:24;\tsize:8;\tsigned:1;\n"
    "\tfield:s64 softexpires;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\tfield:enum hrtimer_mode mode;\toffset:40;\tsize:4;\tsigned:0;\n"
    "\tfield:bool was_armed;\toffset:44;\tsize:1;\tsigned:0;\n\n"
    "print fmt: \"hrtimer=%p function=%ps expires=%llu softexpires=%llu mode=%s\", REC->hrtimer\n";

/* Linux 5.10, 32-bit Arm */
static const char expire_format[] = "name: hrtimer_expire_entry\nID: 87\nformat:\n"
                                    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                                    "\tfield:void *hrtimer;\toffset:8;\tsize:4;\tsigned:0;\n"
                                    "\tfield:s64 now;\toffset:16;\tsize:8;\tsigned:1;\n"
                                    "\tfield:void *function;\toffset:24;\tsize:4;\tsigned:0;\n";

static void fields_are_found_where_the_kernel_says_they_lie(void **state)
{
    (void)state;
    struct trace_event event;
    assert_true(trace_event_parse(&event, "460\n", start_format, "softexpires"));
    assert_int_equal(event.id, 460);
    assert_int_equal(event.timer.offset, 8);
    assert_int_equal(event.timer.bytes, 8);
    assert_int_equal(event.time.offset, 32);
    assert_int_equal(event.time.bytes, 8);
    assert_true(trace_event_parse(&event, "87", expire_format, "now"));
    assert_int_equal(event.timer.bytes, 4);
    assert_int_equal(event.time.offset, 16);
}

static void a_name_is_found_whole_or_not_at_all(void **state)
{
    (void)state;
    struct trace_field field;
    assert_true(trace_format_find(start_format, "expires", &field));
    assert_int_equal(field.offset, 24); /* not that of softexpires */
    assert_false(trace_format_find(start_format, "xpires", &field));
    assert_false(trace_format_find(start_format, "expire", &field));
    assert_false(trace_format_find(start_format, "now", &field));
    assert_false(trace_format_find("", "hrtimer", &field));
}

static void what_is_not_understood_is_refused(void **state)
{
    (void)state;
    struct trace_event event;
    struct trace_field field;
    assert_false(trace_format_find(start_format, "common_type", &field)); /* two bytes */
    assert_false(trace_event_parse(&event, "", start_format, "softexpires"));
    assert_false(trace_event_parse(&event, "none", start_format, "softexpires"));
    assert_false(trace_event_parse(&event, "460", start_format, "now"));
    assert_false(trace_event_parse(&event, "460", start_format, "mode")); /* four bytes are no time */
    assert_false(trace_format_find("\tfield:void * hrtimer;\toffset:8;\n\tsize:8;", "hrtimer", &field));
    assert_false(trace_format_find("\tfield:void * hrtimer;\toffset:70000;\tsize:8;", "hrtimer", &field));
    assert_false(trace_format_find("\tfield:void * hrtimer", "hrtimer", &field)); /* cut off */
    /* 32-bit x86: no program may read eight bytes that are aligned to four */
    assert_false(trace_format_find("\tfield:s64 now;\toffset:12;\tsize:8;\tsigned:1;\n", "now", &field));
}

/* Some sleeps may go unnoticed, all of them must not; and one that is noticed lies between expiry and wake-up. */
static int noticed(struct os_timer_trace *trace, int sleeps)
{
    int seen = 0;
    for (int i = 0; i < sleeps; i++) {
        const int64_t expiry_ns = os_now_ns() + MS;
        os_timer_trace_expect(trace, expiry_ns);
        assert_true(os_timer_trace_handler_ns(trace) == INT64_MIN);
        const int64_t wake_ns = os_sleep_until_and_read(expiry_ns);
        const int64_t handler_ns = os_timer_trace_handler_ns(trace);
        if (handler_ns != INT64_MIN) {
            assert_true(handler_ns >= expiry_ns);
            assert_true(handler_ns <= wake_ns);
            seen++;
        }
    }
    return seen;
}

static void the_handler_of_a_sleep_is_noticed(enum os_timer_trace_way way)
{
    struct os_timer_trace *trace = NULL;
    struct os_timer_trace *other = NULL;
    const struct os_answer answer = os_timer_trace_open(&trace, way);
    if (answer.availability != OS_PRESENT) {
        assert_true(strlen(answer.why) > 20);
        print_message("not shown: %s\n", answer.why);
        skip();
    }
    assert_int_equal(os_timer_trace_open(&other, way).availability, OS_PRESENT); /* two probes at a time */
    assert_true(noticed(trace, 20) > 0);
    assert_true(noticed(other, 20) > 0);

    os_timer_trace_expect(trace, os_now_ns() + MS);
    os_sleep_until(os_now_ns() + 3LL * MS); /* another instant: this sleep is not meant */
    assert_true(os_timer_trace_handler_ns(trace) == INT64_MIN);
    os_timer_trace_close(other);
    assert_true(noticed(trace, 20) > 0);
    os_timer_trace_close(trace);
    os_timer_trace_close(NULL);
}

static void the_handler_of_a_sleep_is_noticed_and_of_no_other(void **state)
{
    (void)state;
    the_handler_of_a_sleep_is_noticed(OS_TIMER_TRACE_USUAL);
}

static void it_is_noticed_directly_too(void **state)
{
    (void)state;
    the_handler_of_a_sleep_is_noticed(OS_TIMER_TRACE_DIRECT);
}

TESTS(cmocka_unit_test(fields_are_found_where_the_kernel_says_they_lie),
      cmocka_unit_test(a_name_is_found_whole_or_not_at_all), cmocka_unit_test(what_is_not_understood_is_refused),
      cmocka_unit_test(the_handler_of_a_sleep_is_noticed_and_of_no_other),
      cmocka_unit_test(it_is_noticed_directly_too))
