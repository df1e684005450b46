/* What loads are made of: arithmetic, children, shares of memory, files without a name, last words. */
#include "load/beat.h"
#include "load/cpu_methods.h"
#include "load/load.h"
#include "load/memory_share.h"
#include "os/fork.h"
#include "os/process.h"
#include "os/storage.h"
#include "os/words.h"
/* load.h has one of this name, too: that one is meant here. */
#define print_error print_error_of_cmocka
#include "test/check.h"
#undef print_error

#include <stdlib.h>
#include <string.h>

enum { PIECE = 65536, MIB = 1024 * 1024 };

static void every_kind_of_arithmetic_depends_on_its_seed_alone(void **state)
{
    (void)state;
    for (int table = 0; table < 2; table++) {
        for (const struct cpu_method *method = table == 0 ? cpu_floating : cpu_integers; method->name != NULL; method++) {
            const uint64_t result = method->compute(12345);
            assert_int_equal(method->compute(12345), result);
            int different = 0;
            for (uint64_t seed = 1; seed <= 16; seed++) {
                different += method->compute(seed * 7919) != result ? 1 : 0;
            }
            if (different < 12) {
                fail_msg("'%s' gives the same for %d of 16 seeds", method->name, 16 - different);
            }
        }
    }
}

/* 200 interrupts a second from 127 other CPUs: each sends to all others every 635 ms. */
static void a_beat_keeps_a_rate_that_its_share_does_not_divide(void **state)
{
    enum { MS = 1000000 };
    struct beat beat = {.start_ns = 7, .rate_hz = 200, .every = 127, .next = 1};
    (void)state;
    assert_int_equal(beat_next_ns(&beat, 7), 7 + INT64_C(635) * MS);
    assert_int_equal(beat_next_ns(&beat, 7), 7 + INT64_C(1270) * MS);
    assert_int_equal(beat.left_out, 0);
    assert_int_equal(beat_next_ns(&beat, 7 + INT64_C(2540) * MS), 7 + INT64_C(3175) * MS); /* its own instant has passed */
    assert_int_equal(beat.left_out, 2);
    beat = (struct beat){.start_ns = 0, .rate_hz = 3, .every = 1, .next = 1};
    assert_int_equal(beat_next_ns(&beat, 0), 333333333);
    assert_int_equal(beat_next_ns(&beat, 333333333), 666666666);
    assert_int_equal(beat_next_ns(&beat, 666666666), INT64_C(1000000000));
}

static bool succeed(void *argument)
{
    volatile uint8_t *const memory = argument;
    memory[0] = 1; /* in the child's copy */
    return true;
}

static bool give_up(void *argument)
{
    (void)argument;
    return false;
}

static bool sleep_for_a_minute(void *argument)
{
    (void)argument;
    return os_sleep_until(os_now_ns() + 60000000000) == OS_OK;
}

static void a_child_works_on_a_copy_and_says_whether_it_did(void **state)
{
    (void)state;
    uint8_t memory[1] = {0};
    assert_int_equal(os_fork_and_wait(succeed, memory), OS_OK);
    assert_int_equal(memory[0], 0);
    assert_int_equal(os_fork_and_wait(give_up, NULL), OS_FAILED);
}

/* Last of all: the request to stop stays. */
static void a_child_that_goes_on_is_ended_when_the_load_is(void **state)
{
    (void)state;
    os_stop_request(OS_STOP_INTERRUPTED);
    const int64_t begin_ns = os_now_ns();
    assert_int_equal(os_fork_and_wait(sleep_for_a_minute, NULL), OS_INTERRUPTED);
    assert_true(os_now_ns() - begin_ns < 5000000000);
}

static void a_share_of_memory_is_what_was_asked_for_and_never_too_much(void **state)
{
    (void)state;
    struct memory_share share = {.asked = "1MiB"};
    assert_int_equal(memory_share_read(&share, 3, PIECE), 0);
    assert_int_equal(share.bytes, 5 * 3 * PIECE); /* whole pieces for each of three */
    assert_false(memory_share_is_short(&share));
    share.asked = "1%";
    assert_int_equal(memory_share_read(&share, 1, 4096), 0);
    assert_true(share.bytes > 0 && share.bytes < os_memory_available_bytes() / 50);
    share.asked = "1.5%";
    assert_int_equal(memory_share_read(&share, 1, 4096), 0);
    share.asked = NULL;
    assert_int_equal(memory_share_read(&share, 1, PIECE), 0);
    assert_true(share.bytes <= 256LL * MIB);
    static const char *const wrong[] = {"", "%", "0%", "91%", "1.5", "x", "-1", "1MiBs", "65535"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        share.asked = wrong[i];
        assert_int_equal(memory_share_read(&share, 1, PIECE), 2);
    }
    share.asked = "1000000GiB";
    assert_int_equal(memory_share_read(&share, 1, PIECE), 1);
    share.reserve_bytes = INT64_MAX;
    assert_true(memory_share_is_short(&share));
    assert_int_equal(share.waits, 1);
}

static void who_fills_much_memory_has_time_to_do_it_once(void **state)
{
    (void)state;
    const struct load *const loads[] = {&load_exit, &load_fork, &load_memory, &load_munmap, &load_thp};
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        void *const settings = calloc(1, loads[i]->settings_bytes);
        struct option table[LOAD_OWN_OPTIONS];
        assert_non_null(settings);
        assert_true(loads[i]->options(settings, table) > 0);
        assert_string_equal(table[0].name, "bytes");
        *(const char **)table[0].target = "50%"; /* nothing is taken yet */
        struct load_run run = {.load = loads[i], .settings = settings, .cpus = {.cpus = {0}, .count = 1}, .threads = 1};
        assert_int_equal(loads[i]->prepare(&run), EXIT_MEASURED);
        assert_true(run.start_patience_ns / 1000000000 > os_memory_available_bytes() / 4 / 50000000);
        free(settings);
    }
}

static void a_file_without_a_name_holds_what_was_written(void **state)
{
    (void)state;
    const char *const folder = os_storage_usual_folder();
    struct os_storage_facts facts;
    struct os_storage *storage = NULL;
    char back[12] = "";
    assert_int_equal(os_storage_facts(folder, &facts), OS_OK);
    assert_true(facts.free_bytes > 0);
    assert_false(facts.is_read_only);
    assert_int_equal(os_storage_create(&storage, folder), OS_OK);
    assert_int_equal(os_storage_write(storage, 100000, "tautochrone", sizeof back), OS_OK);
    assert_int_equal(os_storage_sync(storage), OS_OK);
    os_storage_forget(storage);
    assert_int_equal(os_storage_read(storage, 100000, back, sizeof back), OS_OK);
    assert_string_equal(back, "tautochrone");
    assert_int_equal(os_storage_clear(storage), OS_OK);
    assert_int_equal(os_storage_read(storage, 100000, back, sizeof back), OS_FAILED);
    os_storage_destroy(storage);
    assert_int_equal(os_storage_facts("/nowhere/at/all", &facts), OS_NOT_FOUND);
    assert_int_equal(os_storage_create(&storage, "/nowhere/at/all"), OS_NOT_FOUND);
}

static void write_words(const struct os_words *words, const char *text)
{
    assert_int_equal(os_output_write((struct os_output){os_words_handle(words)}, text, strlen(text)), OS_OK);
}

static void of_many_words_the_last_line_is_kept(void **state)
{
    (void)state;
    struct os_words *words = NULL;
    assert_int_equal(os_words_create(&words), OS_OK);
    os_words_take(words);
    assert_string_equal(os_words_last(words), "");
    write_words(words, "first\n  and la");
    os_words_take(words);
    write_words(words, "st\n\n");
    os_words_take(words);
    assert_string_equal(os_words_last(words), "and last");
    char *const much = malloc(10000);
    memset(much, 'x', 10000);
    much[9999] = '\0';
    write_words(words, much);
    os_words_take(words);
    assert_true(strlen(os_words_last(words)) < 1000);
    free(much);
    os_words_destroy(words);
}

TESTS(cmocka_unit_test(a_beat_keeps_a_rate_that_its_share_does_not_divide),
      cmocka_unit_test(every_kind_of_arithmetic_depends_on_its_seed_alone),
      cmocka_unit_test(a_child_works_on_a_copy_and_says_whether_it_did),
      cmocka_unit_test(a_share_of_memory_is_what_was_asked_for_and_never_too_much),
      cmocka_unit_test(who_fills_much_memory_has_time_to_do_it_once),
      cmocka_unit_test(a_file_without_a_name_holds_what_was_written),
      cmocka_unit_test(of_many_words_the_last_line_is_kept),
      cmocka_unit_test(a_child_that_goes_on_is_ended_when_the_load_is))
