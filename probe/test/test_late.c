/* The flight recorder of late cycles: a ring of perf as it lies in memory, and the real one. */
#include "os/posix/late_perf_ring.h"
#include "os/posix/late_recorder.h"
#include "test/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MS = 1000000, EVENTS = 2048, RING_BYTES = 65536, HEAD_AT = 1024, SWITCHES = 7, IRQS = 9, TRIES = 100 };

/* ---- A ring made by hand --------------------------------------------------- */

static const struct late_layout layouts[] = {
    {.number = 1,
     .kind = OS_LATE_SWITCH,
     .parts = {[LATE_ID] = {8, 4}, [LATE_OTHER] = {12, 4}, [LATE_PRIORITY] = {16, 4}, [LATE_ADDRESS] = {20, 4}, [LATE_NAME] = {24, 16}}},
    {.number = 2, .kind = OS_LATE_IRQ_BEGIN, .parts = {[LATE_ID] = {8, 4}, [LATE_NAME] = {12, 4}}},
};

struct made_ring {
    struct late_ring ring;
    uint64_t head; /* counted down, as the kernel does */
};

static void make_ring(struct made_ring *made)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    made->head = 0;
    made->ring = (struct late_ring){.pages = calloc(1, page + RING_BYTES), .bytes = RING_BYTES, .count = 2,
                                    .numbers = {SWITCHES, IRQS}};
    assert_non_null(made->ring.pages);
}

static void put(struct made_ring *made, const void *record, uint16_t bytes)
{
    uint8_t *const pages = made->ring.pages;
    uint8_t *const data = pages + sysconf(_SC_PAGESIZE);
    made->head -= bytes;
    for (uint16_t i = 0; i < bytes; i++) {
        data[(made->head + i) & (RING_BYTES - 1)] = ((const uint8_t *)record)[i];
    }
    memcpy(pages + HEAD_AT, &made->head, sizeof made->head);
}

static void put_sample(struct made_ring *made, uint64_t number, int64_t time_ns, const void *fields, uint32_t field_bytes)
{
    enum { HEADS = 28 };
    uint8_t record[128] = {0};
    const uint16_t bytes = (uint16_t)((HEADS + field_bytes + 7) / 8 * 8);
    const uint32_t type = 9;
    const uint32_t padded = bytes - HEADS;
    memcpy(record, &type, 4);
    memcpy(record + 6, &bytes, 2);
    memcpy(record + 8, &number, 8);
    memcpy(record + 16, &time_ns, 8);
    memcpy(record + 24, &padded, 4);
    memcpy(record + HEADS, fields, field_bytes);
    put(made, record, bytes);
}

static void put_switch(struct made_ring *made, int64_t time_ns, int32_t from, int32_t to)
{
    struct {
        int64_t common;
        int32_t next, previous, priority, state;
        char name[16];
    } const fields = {0, to, from, 9, 0x100, "a thread"};
    put_sample(made, SWITCHES, time_ns, &fields, sizeof fields);
}

static void put_irq(struct made_ring *made, int64_t time_ns, int32_t number)
{
    struct {
        int64_t common;
        int32_t irq;
        uint32_t place;
        char name[8];
    } const fields = {0, number, 8U << 16 | 16, "eth0"};
    put_sample(made, IRQS, time_ns, &fields, sizeof fields);
}

static struct os_late_event decoded(const struct late_view *view, size_t index)
{
    struct os_late_event event;
    assert_true(late_view_decode(view, &view->records[index], &event));
    return event;
}

static void records_become_events(void **state)
{
    (void)state;
    struct made_ring made;
    struct late_view view;
    make_ring(&made);
    assert_int_equal(late_view_create(&view, layouts, RING_BYTES), OS_OK);
    put_switch(&made, 100, 0, 41);
    put_irq(&made, 200, 34);
    put_switch(&made, 300, 41, 42);
    late_view_look(&view, &made.ring, 150, 400);
    assert_true(view.complete);
    assert_int_equal(view.count, 3);
    const struct os_late_event last = decoded(&view, 0);
    uint64_t name[2];
    late_name(name, "a thread", OS_LATE_NAME_BYTES);
    assert_int_equal(last.time_ns, 300);
    assert_int_equal(last.kind, OS_LATE_SWITCH);
    assert_int_equal(last.id, 42);
    assert_int_equal(last.other, 41);
    assert_int_equal(last.priority, 9);
    assert_int_equal(last.address, 0); /* it would have gone on */
    assert_memory_equal(last.name, name, sizeof name);
    const struct os_late_event irq = decoded(&view, 1);
    late_name(name, "eth0", 8);
    assert_int_equal(irq.kind, OS_LATE_IRQ_BEGIN);
    assert_int_equal(irq.id, 34);
    assert_int_equal(irq.priority, INT64_MIN);
    assert_memory_equal(irq.name, name, sizeof name);
    late_view_destroy(&view);
    free(made.ring.pages);
}

static void an_interrupt_between_two_halves_of_a_record_does_not_confuse_their_order(void **state)
{
    (void)state;
    struct made_ring made;
    struct late_view view;
    make_ring(&made);
    assert_int_equal(late_view_create(&view, layouts, RING_BYTES), OS_OK);
    put_switch(&made, 100, 0, 1);
    put_irq(&made, 320, 1); /* came while the next one, which had read the clock already, was being written */
    put_irq(&made, 300, 2);
    late_view_look(&view, &made.ring, 150, 400);
    assert_int_equal(view.count, 3);
    for (size_t i = 1; i < view.count; i++) {
        assert_true(view.records[i - 1].time_ns > view.records[i].time_ns);
    }
    late_view_destroy(&view);
    free(made.ring.pages);
}

static void what_was_overwritten_is_said(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    struct made_ring made;
    struct late_view view;
    make_ring(&made);
    assert_int_equal(late_view_create(&view, layouts, RING_BYTES), OS_OK);
    for (int64_t i = 1; i <= MANY; i++) {
        put_irq(&made, i * 10, (int32_t)i);
    }
    late_view_look(&view, &made.ring, 10, (int64_t)MANY * 10);
    assert_false(view.complete);
    assert_true(view.count > 100);
    for (size_t i = 0; i < view.count; i++) { /* each as it was written, the latest first, none torn */
        const struct os_late_event event = decoded(&view, i);
        assert_int_equal(event.id, MANY - (int64_t)i);
        assert_int_equal(event.time_ns, event.id * 10);
    }
    put_switch(&made, (int64_t)MANY * 10 + 1, 1, 2);
    put_irq(&made, (int64_t)MANY * 10 + 50, 1);
    late_view_look(&view, &made.ring, (int64_t)MANY * 10 + 40, os_now_ns());
    assert_true(view.complete); /* of this time nothing was */
    late_view_destroy(&view);
    free(made.ring.pages);
}

static void rubbish_ends_a_look(void **state)
{
    (void)state;
    static const uint8_t empty[64];
    struct made_ring made;
    struct late_view view;
    make_ring(&made);
    assert_int_equal(late_view_create(&view, layouts, RING_BYTES), OS_OK);
    put(&made, empty, sizeof empty);
    put_irq(&made, 300, 2);
    late_view_look(&view, &made.ring, 150, 400);
    assert_int_equal(view.count, 1);
    assert_false(view.complete);

    const uint8_t fields[12] = {0};
    struct os_late_event event = {0};
    assert_false(late_layout_decode(&layouts[0], fields, sizeof fields, &event)); /* cut off */
    late_view_destroy(&view);
    free(made.ring.pages);
}

static void names_are_cut_and_padded(void **state)
{
    (void)state;
    uint64_t name[2] = {1, 1};
    late_name(name, "ab", OS_LATE_NAME_BYTES);
    assert_int_equal(name[0], 'a' | 'b' << 8);
    assert_int_equal(name[1], 0);
    late_name(name, "0123456789abcdefXYZ", 19);
    assert_int_equal(name[1] >> 56, 'f');
    for (int kind = 1; kind < OS_LATE_KIND_LIMIT; kind++) {
        assert_true(strlen(os_late_kind_name((enum os_late_kind)kind)) > 2);
    }
}

/* ---- The real one ---------------------------------------------------------- */

static struct os_late_trace *open_real(enum os_late_way way)
{
    const int32_t cpu = 0;
    const struct os_late_wish wish = {.way = way, .cpus = &cpu, .cpu_count = 1};
    struct os_late_trace *trace = NULL;
    const struct os_answer answer = os_late_trace_open(&trace, &wish);
    if (answer.availability != OS_PRESENT) {
        assert_true(strlen(answer.why) > 20);
        print_message("not shown: %s\n", answer.why);
        skip();
    }
    return trace;
}

struct sleeper {
    struct os_notice *ready;
    int64_t release_ns;
    int64_t wake_ns;
};

static void sleep_once(void *argument)
{
    struct sleeper *const sleeper = argument;
    sleeper->release_ns = os_now_ns() + (int64_t)3 * MS;
    sleeper->wake_ns = os_sleep_until_and_read(sleeper->release_ns);
    os_notice_post(sleeper->ready);
    os_sleep_until_and_read(os_now_ns() + (int64_t)20 * MS); /* its number is asked for meanwhile */
}

/* Events of one sleep of a thread on CPU 0. */
static struct os_late_copied record_a_sleep(struct os_late_trace *trace, struct sleeper *sleeper, int64_t *thread_number,
                                            struct os_late_event *events, size_t limit)
{
    const struct os_thread_attributes attributes = {.name = "a sleeper", .cpu = 0};
    struct os_thread *thread = NULL;
    assert_int_equal(os_notice_create(&sleeper->ready), OS_OK);
    assert_int_equal(os_thread_create(&thread, &attributes, sleep_once, sleeper), OS_OK);
    assert_int_equal(os_notice_wait_for(sleeper->ready, (int64_t)10000 * MS), OS_OK);
    *thread_number = os_thread_number_of(thread);
    const struct os_late_copied copied =
        os_late_trace_copy(trace, 0, sleeper->release_ns, sleeper->wake_ns, events, limit);
    os_thread_join(thread);
    os_notice_destroy(sleeper->ready);
    return copied;
}

/* False: the thread was not switched to, because its release had passed before it could sleep; or it had to wait for its CPU
 * for so long that the ring no longer has all of it. */
static bool check_one_sleep(struct os_late_trace *trace)
{
    static struct os_late_event events[EVENTS];
    struct sleeper sleeper;
    int64_t thread = 0;
    bool switched = false;
    const struct os_late_copied copied = record_a_sleep(trace, &sleeper, &thread, events, EVENTS);
    if (copied.lost > 0) {
        return false;
    }
    assert_true(copied.count > 0);
    for (size_t i = 0; i < copied.count; i++) {
        const struct os_late_event *const event = &events[i];
        assert_true(event->kind > 0 && event->kind < OS_LATE_KIND_LIMIT);
        assert_true(event->time_ns <= sleeper.wake_ns);
        assert_true(event->time_ns >= sleeper.release_ns || i <= LATE_GOING_LIMIT + 1);
        assert_true(i == 0 || event->time_ns >= events[i - 1].time_ns);
        if (event->kind == OS_LATE_SWITCH && event->id == thread) {
            uint64_t name[2];
            late_name(name, "a sleeper", OS_LATE_NAME_BYTES);
            assert_memory_equal(event->name, name, sizeof name);
            switched = true;
        }
    }
    if (copied.count > 2) { /* the first ones stay */
        const struct os_late_copied two =
            os_late_trace_copy(trace, 0, sleeper.release_ns, sleeper.wake_ns, events, 2);
        assert_true(two.lost > 0 || (two.count == 2 && two.left_out > 0));
    }
    return switched || copied.left_out > 0; /* others may have switched thousands of times meanwhile */
}

static void check_a_sleep(struct os_late_trace *trace)
{
    bool found = false;
    for (int tries = 0; tries < TRIES && !found; tries++) {
        found = check_one_sleep(trace);
    }
    assert_true(found);
}

static void a_wake_up_is_recorded(enum os_late_way way)
{
    static struct os_late_event events[EVENTS];
    struct sleeper sleeper;
    int64_t thread = 0;
    struct os_late_trace *const trace = open_real(way);
    check_a_sleep(trace);
    os_late_trace_pause(trace);
    const struct os_late_copied paused = record_a_sleep(trace, &sleeper, &thread, events, EVENTS);
    for (size_t i = 0; i < paused.count; i++) {
        assert_true(events[i].time_ns < sleeper.release_ns);
    }
    os_late_trace_resume(trace);
    check_a_sleep(trace);
    os_late_trace_close(trace);
}

static void a_wake_up_is_recorded_by_bpf(void **state)
{
    (void)state;
    a_wake_up_is_recorded(OS_LATE_BPF);
}

static bool is_told_alike(const struct os_late_event *one, const struct os_late_event *other)
{
    enum { STATES = 0xc }; /* stopped, traced: of others, programs see more than is told to people */
    return one->kind == other->kind && one->id == other->id && one->other == other->other &&
           one->priority == other->priority && memcmp(one->name, other->name, sizeof one->name) == 0 &&
           (one->address & STATES) == (other->address & STATES) && (one->address == 0) == (other->address == 0) &&
           one->time_ns - other->time_ns < MS && other->time_ns - one->time_ns < MS;
}

/* False: there was none, or one of them no longer had it. */
static bool tell_alike(struct os_late_trace *bpf, struct os_late_trace *perf)
{
    static struct os_late_event events[EVENTS];
    static struct os_late_event others[EVENTS];
    struct sleeper sleeper;
    int64_t thread = 0;
    const struct os_late_copied copied = record_a_sleep(bpf, &sleeper, &thread, events, EVENTS);
    const struct os_late_copied other = os_late_trace_copy(perf, 0, sleeper.release_ns - (int64_t)2 * MS,
                                                           sleeper.wake_ns + (int64_t)2 * MS, others, EVENTS);
    size_t switches = 0;
    bool all_found = copied.lost == 0 && other.lost == 0;
    for (size_t i = 0; i < copied.count && all_found; i++) {
        bool found = events[i].kind != OS_LATE_SWITCH || events[i].time_ns < sleeper.release_ns;
        switches += !found;
        for (size_t j = 0; j < other.count && !found; j++) {
            found = is_told_alike(&events[i], &others[j]);
        }
        all_found = found;
    }
    return all_found && switches > 0;
}

static void both_recorders_tell_the_same_switches(void **state)
{
    (void)state;
    struct os_late_trace *const bpf = open_real(OS_LATE_BPF);
    struct os_late_trace *const perf = open_real(OS_LATE_PERF);
    bool alike = false;
    for (int tries = 0; tries < TRIES && !alike; tries++) {
        alike = tell_alike(bpf, perf);
    }
    assert_true(alike);
    os_late_trace_close(bpf);
    os_late_trace_close(perf);
}

static void a_wake_up_is_recorded_by_perf(void **state)
{
    (void)state;
    a_wake_up_is_recorded(OS_LATE_PERF);
    os_late_trace_close(NULL);
}

static void count_name(void *argument, uint64_t address, const char *name)
{
    assert_true(address > 1 && strlen(name) > 0);
    ++*(size_t *)argument;
}

static void functions_have_names_where_the_kernel_tells_them(void **state)
{
    (void)state;
    static struct os_late_event events[EVENTS];
    struct sleeper sleeper;
    int64_t thread = 0;
    uint64_t addresses[2] = {1, 0};
    size_t found = 0;
    struct os_late_trace *const trace = open_real(OS_LATE_PERF);
    const struct os_late_copied copied = record_a_sleep(trace, &sleeper, &thread, events, EVENTS);
    for (size_t i = 0; i < copied.count; i++) {
        addresses[1] = events[i].kind == OS_LATE_TIMER_BEGIN ? events[i].address : addresses[1];
    }
    os_late_trace_close(trace);
    if (addresses[1] == 0 || os_kernel_symbols(addresses, 2, count_name, &found) == OS_NOT_PERMITTED) {
        skip();
    }
    assert_int_equal(found, 1);
}

TESTS(cmocka_unit_test(records_become_events),
      cmocka_unit_test(an_interrupt_between_two_halves_of_a_record_does_not_confuse_their_order),
      cmocka_unit_test(what_was_overwritten_is_said), cmocka_unit_test(rubbish_ends_a_look),
      cmocka_unit_test(names_are_cut_and_padded), cmocka_unit_test(a_wake_up_is_recorded_by_bpf),
      cmocka_unit_test(both_recorders_tell_the_same_switches), cmocka_unit_test(a_wake_up_is_recorded_by_perf),
      cmocka_unit_test(functions_have_names_where_the_kernel_tells_them))
