/* What the kernel's trace hands out, page by page as it lies there; the books of what timerlat tells; and its settings, in
 * a folder that looks like the kernel's. */
#include "experiment/timerlat_rows.h"
#include "format.h"
#include "os/posix/timerlat_settings.h"
#include "os/posix/trace_page.h"
#include "os/posix/tracefs.h"
#include "test/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PERIOD = 1000000, LATE_HANDLER = 700, LATE_THREAD = 8000, NOTED_AFTER = 150 };

/* ---- Pages -------------------------------------------------------------- */

struct builder {
    unsigned char bytes[256];
    size_t length;
};

static void put(struct builder *page, const void *data, size_t bytes)
{
    memcpy(page->bytes + page->length, data, bytes);
    page->length += bytes;
}

static void put_word(struct builder *page, uint32_t word)
{
    put(page, &word, sizeof word);
}

/* With the head of a 64-bit kernel. */
static struct builder page_of(uint64_t time_ns)
{
    struct builder page = {.length = 0};
    const uint64_t nothing_yet = 0;
    put(&page, &time_ns, sizeof time_ns);
    put(&page, &nothing_yet, sizeof nothing_yet);
    return page;
}

static struct trace_page opened(struct builder *page, uint64_t flags)
{
    struct trace_page opened;
    const uint64_t commit = (page->length - 16) | flags;
    memcpy(page->bytes + 8, &commit, sizeof commit);
    trace_page_begin(&opened, page->bytes, page->length, sizeof commit);
    return opened;
}

static void expect(struct trace_page *page, uint64_t time_ns, size_t length, uint32_t first_word)
{
    const unsigned char *event = NULL;
    size_t found_length = 0;
    uint64_t found_ns = 0;
    uint32_t word = 0;
    assert_true(trace_page_next(page, &event, &found_length, &found_ns));
    memcpy(&word, event, sizeof word);
    assert_true(found_ns == time_ns);
    assert_int_equal(found_length, length);
    assert_int_equal(word, first_word);
}

static void expect_end(struct trace_page *page)
{
    const unsigned char *event = NULL;
    size_t length = 0;
    uint64_t time_ns = 0;
    assert_false(trace_page_next(page, &event, &length, &time_ns));
    assert_false(trace_page_next(page, &event, &length, &time_ns));
}

static void every_kind_of_entry_moves_the_time_as_it_says(void **state)
{
    (void)state;
    struct builder page = page_of(5000000000);
    put_word(&page, 2 | 100 << 5); /* two words, 100 ns later */
    put_word(&page, 0xa1);
    put_word(&page, 0);
    put_word(&page, 30 | 7 << 5); /* a long pause: 7 + 2^27 * 3 ns */
    put_word(&page, 3);
    put_word(&page, 0 | 1 << 5); /* an event that tells its length: 12 bytes with that */
    put_word(&page, 12);
    put_word(&page, 0xb2);
    put_word(&page, 0);
    put_word(&page, 29 | 5 << 5); /* one that was taken back: 8 bytes */
    put_word(&page, 8);
    put_word(&page, 0xdead);
    put_word(&page, 1); /* at the same instant */
    put_word(&page, 0xc3);
    put_word(&page, 31 | 9 << 5); /* from here on it is this late: 9 + 2^27 * 100 */
    put_word(&page, 100);
    put_word(&page, 1 | 1 << 5);
    put_word(&page, 0xd4);
    put_word(&page, 29); /* the rest of the page is empty */
    put_word(&page, 0xffffffff);
    struct trace_page read = opened(&page, (uint64_t)1 << 31); /* a flag: events were lost before */
    const uint64_t pause_ns = 7 + ((uint64_t)3 << 27);
    expect(&read, 5000000100, 8, 0xa1);
    expect(&read, 5000000101 + pause_ns, 8, 0xb2);
    expect(&read, 5000000106 + pause_ns, 4, 0xc3);
    expect(&read, 10 + ((uint64_t)100 << 27), 4, 0xd4);
    expect_end(&read);
}

static void a_page_that_is_cut_off_ends_there(void **state)
{
    (void)state;
    struct builder page = page_of(1);
    put_word(&page, 1);
    put_word(&page, 0xa1);
    put_word(&page, 5); /* five words, of which none is there */
    struct trace_page read = opened(&page, 0);
    expect(&read, 1, 4, 0xa1);
    expect_end(&read);

    struct builder longer = page_of(1);
    put_word(&longer, 0); /* tells its length: more than there is */
    put_word(&longer, 4000);
    put_word(&longer, 0);
    read = opened(&longer, 0);
    expect_end(&read);

    trace_page_begin(&read, page.bytes, 12, 8); /* not even a head */
    expect_end(&read);
}

static void a_word_is_found_whole(void **state)
{
    (void)state;
    assert_true(tracefs_has_word("timerlat osnoise hwlat nop", "timerlat"));
    assert_true(tracefs_has_word("hwlat nop\n", "nop"));
    assert_false(tracefs_has_word("timerlat2 xtimerlat", "timerlat"));
    assert_false(tracefs_has_word("", "nop"));
}

/* ---- Books -------------------------------------------------------------- */

enum { FIRST_INSTANT = 1000000000, COUNT = 6, WARMUP = 2, RING = 16 };

struct books {
    struct source source;
    struct timerlat_rows rows;
};

static void open_books(struct books *books)
{
    *books = (struct books){.source = {.recorded = 0}};
    assert_int_equal(ring_create(&books->source.ring, RING, TIMERLAT_COLUMNS, OS_CPU_ANY), OS_OK);
    books->rows = timerlat_rows_from(&books->source, PERIOD, COUNT, WARMUP);
}

/* Activation `number` was for the instant `at`, counted in periods. */
static void tell(struct books *books, uint32_t number, int64_t at, bool by_thread, int64_t late_ns)
{
    const struct os_timerlat_event event = {
        .noted_ns = FIRST_INSTANT + at * PERIOD + late_ns + NOTED_AFTER + (at == 0 ? 90 : 0),
        .latency_ns = late_ns,
        .activation = number,
        .by_thread = by_thread,
        .thread = 77,
    };
    timerlat_rows_take(&books->rows, &event);
}

static void tell_both(struct books *books, uint32_t number, int64_t at)
{
    tell(books, number, at, false, LATE_HANDLER + at);
    tell(books, number, at, true, LATE_THREAD + at);
}

static void expect_books(struct books *books, uint64_t released, uint64_t completed, uint64_t missed, uint64_t dropped)
{
    const struct counters *const counters = &books->source.counters;
    assert_int_equal(counters->released, released);
    assert_int_equal(counters->completed, completed);
    assert_int_equal(atomic_load(&counters->missed), missed);
    assert_int_equal(atomic_load(&books->source.ring.dropped), dropped);
    assert_int_equal(released, completed + missed);
    assert_int_equal(ring_waiting(&books->source.ring), completed - dropped);
    ring_destroy(&books->source.ring);
}

static void cpu_time_that_can_not_be_told_is_not_told_as_none(void **state)
{
    (void)state;
    struct books books;
    open_books(&books); /* its thread never came */
    timerlat_rows_close(&books.rows, FIRST_INSTANT);
    assert_true(books.source.counters.cpu_time_ns == INT64_MIN);
    expect_books(&books, 0, 0, 0, 0);
}

static void every_activation_becomes_a_row(void **state)
{
    (void)state;
    struct books books;
    open_books(&books);
    tell(&books, 41, -1, true, LATE_THREAD); /* its handler told it before we listened */
    for (int32_t i = 0; i < COUNT + WARMUP + 3; i++) {
        tell_both(&books, 42 + (uint32_t)i, i);
    }
    assert_true(timerlat_rows_complete(&books.rows));
    assert_int_equal(books.rows.thread, 77);
    uint64_t waiting = 0;
    const int64_t *const row = ring_peek(&books.source.ring, &waiting);
    /* All instants are too late by the shortest way from the reading to the event, and by nothing else. */
    assert_true(row[0] == FIRST_INSTANT + WARMUP * PERIOD + NOTED_AFTER);
    assert_true(row[1] - row[0] == LATE_THREAD + WARMUP);
    assert_true(row[2] - row[0] == LATE_HANDLER + WARMUP);
    assert_int_equal(books.source.counters.warmup, WARMUP);
    timerlat_rows_close(&books.rows, FIRST_INSTANT + 100 * (int64_t)PERIOD);
    expect_books(&books, COUNT, COUNT, 0, 0);
}

static void what_was_passed_over_is_missed_and_what_the_trace_lost_is_dropped(void **state)
{
    (void)state;
    struct books books;
    open_books(&books);
    tell_both(&books, 1, 0);
    tell_both(&books, 2, 1);
    tell_both(&books, 3, 2);
    tell_both(&books, 4, 4); /* one instant was passed over: the activations have no gap */
    tell(&books, 6, 6, true, LATE_THREAD); /* number 5 is lost, and the handler's word of number 6 */
    tell_both(&books, 7, 7);
    tell_both(&books, 7, 7); /* told twice: woken by somebody else */
    assert_true(timerlat_rows_complete(&books.rows));
    assert_int_equal(books.rows.lost, 2);
    timerlat_rows_close(&books.rows, FIRST_INSTANT + 7 * (int64_t)PERIOD);
    expect_books(&books, COUNT, 5, 1, 2);
}

static void a_handler_whose_thread_is_lost_drops_its_sample(void **state)
{
    (void)state;
    struct books books;
    open_books(&books);
    tell_both(&books, 1, 0);
    tell_both(&books, 2, 1);
    tell(&books, 3, 2, false, LATE_HANDLER);
    tell_both(&books, 4, 3);
    timerlat_rows_close(&books.rows, FIRST_INSTANT + 3 * (int64_t)PERIOD + 1000);
    expect_books(&books, 2, 2, 0, 1);
}

static void a_thread_that_does_not_come_misses_what_is_due(void **state)
{
    (void)state;
    struct books books;
    open_books(&books);
    for (uint32_t i = 0; i < 4; i++) {
        tell_both(&books, i + 1, i);
    }
    tell(&books, 5, 4, false, LATE_HANDLER);
    timerlat_rows_close(&books.rows, FIRST_INSTANT + 5 * (int64_t)PERIOD + 1000); /* releases 2 and 3 are due */
    expect_books(&books, 4, 2, 2, 0);
}

static void a_late_thread_is_an_overrun(void **state)
{
    (void)state;
    struct books books;
    open_books(&books);
    tell_both(&books, 1, 0);
    tell_both(&books, 2, 1);
    tell(&books, 3, 2, false, LATE_HANDLER);
    tell(&books, 3, 2, true, 2 * PERIOD + 5);
    tell_both(&books, 4, 5);
    assert_int_equal(books.source.counters.overruns, 1);
    timerlat_rows_close(&books.rows, FIRST_INSTANT + 5 * (int64_t)PERIOD + 1000);
    expect_books(&books, 4, 2, 2, 0);
}

/* ---- Settings ----------------------------------------------------------- */

enum { LIST_BYTES = 4096, MANY_CPUS = 1024 };
static const char *const setting_names[] = {
    "osnoise/cpus", "osnoise/timerlat_period_us", "osnoise/stop_tracing_us", "osnoise/stop_tracing_total_us",
    "osnoise/print_stack"};

struct fake {
    char place[64];
    int tracing;
    char instance[INSTANCE_BYTES];
    int lock;
};

static void write_file(const struct fake *fake, const char *name, const char *content)
{
    const int file = openat(fake->tracing, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, content, strlen(content)), strlen(content));
    close(file);
}

static struct fake fake_of(const char *cpus)
{
    struct fake fake = {.place = "/tmp/tauto-timerlat-XXXXXX", .lock = -1};
    assert_non_null(mkdtemp(fake.place));
    fake.tracing = open(fake.place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(fake.tracing, "osnoise", 0700), 0);
    assert_int_equal(mkdirat(fake.tracing, "instances", 0700), 0);
    for (size_t i = 0; i < sizeof setting_names / sizeof setting_names[0]; i++) {
        write_file(&fake, setting_names[i], i == 0 ? cpus : "0");
    }
    return fake;
}

static void end_fake(struct fake *fake)
{
    for (size_t i = 0; i < sizeof setting_names / sizeof setting_names[0]; i++) {
        assert_int_equal(unlinkat(fake->tracing, setting_names[i], 0), 0);
    }
    assert_int_equal(unlinkat(fake->tracing, "osnoise", AT_REMOVEDIR), 0);
    assert_int_equal(unlinkat(fake->tracing, "instances", AT_REMOVEDIR), 0); /* nothing is left in it */
    close(fake->tracing);
    assert_int_equal(rmdir(fake->place), 0);
}

static enum os_status set_cpus(struct fake *fake, const int32_t *cpus, uint32_t count)
{
    return timerlat_settings_make(fake->tracing, cpus, count, 1000, fake->instance, &fake->lock);
}

static void expect_cpus(const struct fake *fake, const char *expected)
{
    char list[LIST_BYTES];
    assert_int_equal(tracefs_read(fake->tracing, "osnoise/cpus", list, sizeof list), OS_OK);
    assert_string_equal(list, expected);
}

/* From `first` on, `step` apart, the last one first. */
static uint32_t fill(int32_t *cpus, uint32_t count, int32_t first, int32_t step)
{
    for (uint32_t i = 0; i < count; i++) {
        cpus[i] = first + (int32_t)(count - 1 - i) * step;
    }
    return count;
}

static void expect_written(const int32_t *cpus, uint32_t count, const char *expected)
{
    struct fake fake = fake_of(""); /* an empty file holds just what is written */
    assert_int_equal(set_cpus(&fake, cpus, count), OS_OK);
    expect_cpus(&fake, expected);
    assert_int_equal(timerlat_settings_put_back(fake.tracing, fake.instance, fake.lock), OS_OK);
    end_fake(&fake);
}

static void as_many_cpus_as_there_are_make_one_short_list(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 56, 57, 64, 128, 300, MANY_CPUS};
    int32_t cpus[MANY_CPUS];
    char expected[LIST_BYTES];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        format_text(expected, sizeof expected, counts[i] == 1 ? "0" : "0-%u", counts[i] - 1);
        expect_written(cpus, fill(cpus, counts[i], 0, 1), expected);
    }
    size_t length = 0;
    for (uint32_t i = 0; i < 150; i++) { /* every second one of 300 */
        length += format_text(expected + length, sizeof expected - length, "%s%u", i == 0 ? "" : ",", 1 + 2 * i);
    }
    expect_written(cpus, fill(cpus, 150, 1, 2), expected);
    const int32_t mixed[] = {9, 3, 1, 0, 299, 2, 298, 7};
    expect_written(mixed, 8, "0-3,7,9,298-299");
}

/* Single CPUs with gaps between them: `count` groups of characters. */
static void gaps(char *list, size_t bytes, uint32_t count)
{
    size_t length = 0;
    for (uint32_t i = 0; i < count; i++) {
        length += format_text(list + length, bytes - length, "%s%u", i == 0 ? "" : ",", 100 + 2 * i);
    }
}

static void what_was_set_before_is_put_back_whole_or_nothing_is_changed(void **state)
{
    (void)state;
    int32_t cpus[64];
    uint32_t put_back = 0;
    char before[LIST_BYTES];
    for (uint32_t groups = 1; groups <= 900; groups += groups < 80 ? 1 : 100) {
        gaps(before, sizeof before, groups);
        struct fake fake = fake_of(before);
        const enum os_status status = set_cpus(&fake, cpus, fill(cpus, 64, 0, 1));
        if (status == OS_OK) {
            assert_int_equal(timerlat_settings_put_back(fake.tracing, fake.instance, fake.lock), OS_OK);
            put_back++;
        } else {
            assert_int_equal(status, OS_NO_SPACE);
        }
        if (groups > 1) { /* one is shorter than what was written over it: the kernel's file has no rest */
            expect_cpus(&fake, before);
        }
        end_fake(&fake);
    }
    assert_in_range(put_back, 40, 60); /* as many as a folder's name holds */
}

static void only_what_nobody_measures_with_is_cleaned_up(void **state)
{
    (void)state;
    /* As a process of another PID namespace names it: here nobody has that number. */
    static const char of_another[] = "instances/tauto-999999999-1:cpus=100-163";
    int32_t cpus[64];
    struct fake fake = fake_of("100-163");
    assert_int_equal(set_cpus(&fake, cpus, fill(cpus, 64, 0, 1)), OS_OK);
    assert_int_equal(renameat(fake.tracing, fake.instance, fake.tracing, of_another), 0);
    assert_int_equal(timerlat_settings_clean_up(fake.tracing), 0);
    assert_int_equal(faccessat(fake.tracing, of_another, F_OK, 0), 0);
    close(fake.lock); /* it was killed */
    assert_int_equal(timerlat_settings_clean_up(fake.tracing), 1);
    expect_cpus(&fake, "100-163");
    end_fake(&fake);
}

static void what_could_not_be_put_back_is_tried_again(void **state)
{
    (void)state;
    static const char cpus_file[] = "osnoise/cpus";
    static const char away[] = "away";
    const int32_t cpu = 0;
    struct fake fake = fake_of("100-163");
    assert_int_equal(set_cpus(&fake, &cpu, 1), OS_OK);
    assert_int_equal(renameat(fake.tracing, cpus_file, fake.tracing, away), 0);
    assert_int_not_equal(timerlat_settings_put_back(fake.tracing, fake.instance, fake.lock), OS_OK);
    assert_int_equal(timerlat_settings_clean_up(fake.tracing), 0);
    assert_int_equal(renameat(fake.tracing, away, fake.tracing, cpus_file), 0);
    assert_int_equal(timerlat_settings_clean_up(fake.tracing), 1);
    expect_cpus(&fake, "100-163");
    end_fake(&fake);
}

/* Holds the folder of all instances, says so, disturbs whoever waits for it, and says when that has to be over. */
static void hold_and_disturb(const struct fake *fake, pid_t other, int to_other)
{
    const int all = openat(fake->tracing, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = flock(all, LOCK_EX) == 0 && write(to_other, "h", 1) == 1;
    for (int i = 0; i < 20 && done; i++) {
        done = os_sleep_until(os_now_ns() + 5000000) == OS_OK && kill(other, SIGUSR1) == 0;
    }
    _exit(done && write(to_other, "e", 1) == 1 ? 0 : 1);
}

static void a_signal_does_not_end_the_waiting_for_another_that_sets_up(void **state)
{
    (void)state;
    const int32_t cpu = 0;
    struct fake fake = fake_of("");
    int from_other[2];
    char said = '\0';
    int ended = 1;
    const pid_t own = getpid();
    assert_int_equal(os_stop_listen(), OS_OK); /* SIGUSR1 only ends a sleep */
    assert_int_equal(pipe(from_other), 0);
    const pid_t other = fork();
    if (other == 0) {
        hold_and_disturb(&fake, own, from_other[1]);
    }
    close(from_other[1]);
    assert_int_equal(read(from_other[0], &said, 1), 1);
    assert_int_equal(said, 'h');
    assert_int_equal(set_cpus(&fake, &cpu, 1), OS_OK);
    assert_int_equal(fcntl(from_other[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(read(from_other[0], &said, 1), 1); /* it was the other's until then */
    assert_int_equal(said, 'e');
    close(from_other[0]);
    assert_int_equal(waitpid(other, &ended, 0), other);
    assert_int_equal(ended, 0);
    assert_int_equal(timerlat_settings_put_back(fake.tracing, fake.instance, fake.lock), OS_OK);
    end_fake(&fake);
}

TESTS(cmocka_unit_test(every_kind_of_entry_moves_the_time_as_it_says),
      cmocka_unit_test(a_page_that_is_cut_off_ends_there), cmocka_unit_test(a_word_is_found_whole),
      cmocka_unit_test(cpu_time_that_can_not_be_told_is_not_told_as_none),
      cmocka_unit_test(every_activation_becomes_a_row),
      cmocka_unit_test(what_was_passed_over_is_missed_and_what_the_trace_lost_is_dropped),
      cmocka_unit_test(a_handler_whose_thread_is_lost_drops_its_sample),
      cmocka_unit_test(a_thread_that_does_not_come_misses_what_is_due), cmocka_unit_test(a_late_thread_is_an_overrun),
      cmocka_unit_test(as_many_cpus_as_there_are_make_one_short_list),
      cmocka_unit_test(what_was_set_before_is_put_back_whole_or_nothing_is_changed),
      cmocka_unit_test(only_what_nobody_measures_with_is_cleaned_up),
      cmocka_unit_test(what_could_not_be_put_back_is_tried_again),
      cmocka_unit_test(a_signal_does_not_end_the_waiting_for_another_that_sets_up))
