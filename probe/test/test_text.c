/* Text in and out: messages, JSON, options, checksums. */
#include "format.h"
#include "options.h"
#include "record/crc32c.h"
#include "record/json.h"
#include "record/stream.h"
#include "test/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void crc32c_gives_the_vectors_of_rfc_3720(void **state)
{
    (void)state;
    struct crc32c crc;
    uint8_t bytes[32];
    crc32c_prepare(&crc);
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(crc32c_of(&crc, bytes, sizeof bytes), 0x8a9136aaU);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(crc32c_of(&crc, bytes, sizeof bytes), 0x62a8ab43U);
    for (uint8_t i = 0; i < 32; i++) {
        bytes[i] = i;
    }
    assert_int_equal(crc32c_of(&crc, bytes, sizeof bytes), 0x46dd794eU);
    assert_int_equal(crc32c_of(&crc, "123456789", 9), 0xe3069283U);
}

/* The C library is the reference. */
#define ASSERT_FORMATS_ALIKE(...)                                                                                     \
    do {                                                                                                              \
        char ours[200];                                                                                               \
        char theirs[200];                                                                                             \
        const size_t our_length = format_text(ours, sizeof ours, __VA_ARGS__);                                        \
        const int their_length = snprintf(theirs, sizeof theirs, __VA_ARGS__);                                        \
        assert_string_equal(ours, theirs);                                                                            \
        assert_int_equal(our_length, their_length);                                                                   \
    } while (0)

static void formatting_agrees_with_the_c_library(void **state)
{
    (void)state;
    ASSERT_FORMATS_ALIKE("plain, 100 %% plain");
    ASSERT_FORMATS_ALIKE("%s|%-12s|%12s|%s", "a", "left", "right", "");
    ASSERT_FORMATS_ALIKE("%d %d %d %u", 0, -1, INT32_MIN, UINT32_MAX);
    ASSERT_FORMATS_ALIKE("%" PRId64 " %" PRId64 " %" PRIu64, INT64_MIN, INT64_MAX, UINT64_MAX);
    ASSERT_FORMATS_ALIKE("%lld %llu %ld %lu", -5LL, 5ULL, -6L, 6UL);
    ASSERT_FORMATS_ALIKE("%zu of %zu bytes, %s", (size_t)7, SIZE_MAX, "and what follows");
    ASSERT_FORMATS_ALIKE("%03d %03d %08u %5d|%-5d|", 7, -7, 1234U, 42, 42);
    ASSERT_FORMATS_ALIKE("%10" PRIu64 "%8" PRIu64 "\n", UINT64_C(12345678901234), UINT64_C(1));
}

static void a_text_that_does_not_fit_is_cut_and_its_length_told(void **state)
{
    (void)state;
    char text[6];
    assert_int_equal(format_text(text, sizeof text, "%s", "much too long"), 13);
    assert_string_equal(text, "much ");
}

static void json_places_commas_and_escapes(void **state)
{
    (void)state;
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "a \"quoted\" key", "back\\slash, line\nbreak, \x01");
    json_open_array(&json, "list");
    json_integer(&json, NULL, INT64_MIN);
    json_unsigned(&json, NULL, UINT64_MAX);
    json_open_object(&json, NULL);
    json_close_object(&json);
    json_close_array(&json);
    json_boolean(&json, "yes", true);
    json_integer_or_null(&json, "unknown", INT64_MIN);
    json_close_object(&json);
    assert_string_equal(json.text,
                        "{\"a \\\"quoted\\\" key\":\"back\\\\slash, line\\u000abreak, \\u0001\","
                        "\"list\":[-9223372036854775808,18446744073709551615,{}],\"yes\":true,\"unknown\":null}");
    json_pad(&json, 8);
    assert_int_equal(json.length % 8, 0);
    assert_int_equal(json.text[json.length], '\0');
    json_free(&json);
}

/* The text as a header would hold it. */
static void expect_json_of(const char *text, bool is_text, const char *expected)
{
    struct json json;
    json_begin(&json);
    json_text(&json, NULL, text);
    assert_string_equal(json.text, expected);
    assert_int_equal(json_is_text(text), is_text);
    json_free(&json);
}

static void whatever_bytes_a_text_has_its_json_is_utf_8(void **state)
{
    (void)state;
    expect_json_of("\x7f \xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", true,
                   "\"\x7f \xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf\"");
    static const char *const wrong[] = {
        "\xff", "\x80", "\xc1\xbf", "\xc3", "\xe2\x82", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char expected[64] = "\"";
        size_t filled = 1;
        for (size_t byte = 0; byte < strlen(wrong[i]); byte++) {
            filled += format_text(expected + filled, sizeof expected - filled, "\\ufffd");
        }
        format_text(expected + filled, sizeof expected - filled, "\"");
        expect_json_of(wrong[i], false, expected);
    }
    expect_json_of("a\xc3(", false, "\"a\\ufffd(\"");
}

/* What each kind reads is in quantities.txt, which test_quantity.c reads. */
static void options_are_read_by_their_kind(void **state)
{
    (void)state;
    static const struct {
        enum option_kind kind;
        const char *right;
        int64_t value;
        const char *wrong;
    } cases[] = {{OPTION_DURATION, "1.5h", 5400000000000, "1kHz"}, {OPTION_PERIOD, "1kHz", 1000000, "1000"},
                 {OPTION_RATE, "1kHz", 1000, "3us"},               {OPTION_RATE, "500", 500, "1.5Hz"},
                 {OPTION_SIZE, "64KiB", 65536, "1m"},              {OPTION_COUNT, "12", 12, "12ms"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = -1;
        struct option table[] = {{"it", cases[i].kind, &value, NULL, "", false}};
        char option[] = "--it";
        char text[64];
        char *arguments[] = {option, text};
        bool wants_help = false;
        format_text(text, sizeof text, "%s", cases[i].right);
        assert_true(options_read(table, 1, 2, arguments, &wants_help));
        assert_int_equal(value, cases[i].value);
        table[0].given = false;
        format_text(text, sizeof text, "%s", cases[i].wrong);
        assert_false(options_read(table, 1, 2, arguments, &wants_help));
    }
}

static void options_refuse_what_they_do_not_know(void **state)
{
    (void)state;
    static const char *const choices[] = {"one", "two", NULL};
    static char *const wrong[][2] = {
        {"--nothing", NULL}, {"--pick", "three"}, {"--number", "x"}, {"--flag=yes", NULL}, {"word", NULL}, {"--number", NULL}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int pick = 0;
        int64_t number = 0;
        bool flag = false;
        bool wants_help = false;
        struct option table[] = {{"pick", OPTION_CHOICE, &pick, choices, "", false},
                                 {"number", OPTION_COUNT, &number, NULL, "", false},
                                 {"flag", OPTION_FLAG, &flag, NULL, "", false}};
        char *arguments[] = {wrong[i][0], wrong[i][1]};
        assert_false(options_read(table, 3, wrong[i][1] == NULL ? 1 : 2, arguments, &wants_help));
    }
}

static void options_take_values_both_ways_and_only_once(void **state)
{
    (void)state;
    int64_t number = 0;
    bool wants_help = false;
    char first[] = "--number=12";
    char *twice[] = {first, first};
    struct option table[] = {{"number", OPTION_COUNT, &number, NULL, "", false}};
    assert_true(options_read(table, 1, 1, twice, &wants_help));
    assert_int_equal(number, 12);
    assert_true(options_given("number"));
    assert_false(options_given("other"));
    assert_false(options_read(table, 1, 2, twice, &wants_help));
}

static void rows_that_commands_share_reach_each_command(void **state)
{
    (void)state;
    struct pair {
        int64_t one;
        int64_t other;
    } form, first = {0}, second = {0};
    const struct option rows[] = {{"one", OPTION_COUNT, &form.one, NULL, "", false},
                                  {"other", OPTION_COUNT, &form.other, NULL, "", false}};
    const struct option_group group = {rows, 2, &form};
    bool wants_help = false;
    char one[] = "--one=1";
    char other[] = "--other=2";
    char *both[] = {one, other};
    const struct option tables[] = {OPTIONS_OF(group, &first), OPTIONS_OF(group, &second)};
    assert_true(options_read(&tables[0], 1, 2, both, &wants_help));
    assert_true(options_given("other"));
    assert_true(options_read(&tables[1], 1, 1, both, &wants_help));
    assert_false(options_given("other"));
    assert_int_equal(first.one, 1);
    assert_int_equal(first.other, 2);
    assert_int_equal(second.one, 1);
    assert_int_equal(second.other, 0);
}

static void cpu_lists_are_checked_against_the_machine(void **state)
{
    (void)state;
    static struct cpu_list list;
    assert_int_equal(cpu_list_read(&list, "all"), 0);
    assert_true(list.count >= 1);
    char own[16];
    format_text(own, sizeof own, "%d-%d", list.cpus[0], list.cpus[0]);
    assert_int_equal(cpu_list_read(&list, own), 0);
    assert_int_equal(list.count, 1);
    static const char *const wrong[] = {"", ",", "1-", "x", "3-1", "0,,1", "99999", "0x1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(cpu_list_read(&list, wrong[i]), 2);
    }
    format_text(own, sizeof own, "%d,%d", list.cpus[0], list.cpus[0]);
    assert_int_equal(cpu_list_read(&list, own), 2);
}

enum { TURNED_WORDS = 1300 }; /* more than are turned at once */

static size_t written(uint8_t *to, size_t room, bool (*write)(struct stream *, uint8_t, uint16_t, const void *, size_t),
                      const int64_t *words)
{
    char path[] = "/tmp/tauto-test-stream-XXXXXX";
    static struct stream stream;
    assert_true(mkstemp(path) >= 0);
    assert_int_equal(stream_open(&stream, path), OS_OK);
    assert_true(write(&stream, 0, 3, words, TURNED_WORDS * sizeof *words));
    assert_true(stream_close(&stream));
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    const size_t got = fread(to, 1, room, file);
    fclose(file);
    remove(path);
    return got;
}

static void rows_are_little_endian_on_every_machine(void **state)
{
    (void)state;
    enum { FRAME_BYTES = 24 + TURNED_WORDS * 8 };
    static int64_t words[TURNED_WORDS];
    static uint8_t direct[FRAME_BYTES + 1];
    static uint8_t turned[FRAME_BYTES + 1];
    for (int64_t i = 0; i < TURNED_WORDS; i++) {
        words[i] = (int64_t)(0x9e3779b97f4a7c15U * (uint64_t)(i + 1)); /* all bits, both signs */
    }
    assert_int_equal(written(direct, sizeof direct, stream_write_rows, words), FRAME_BYTES);
    assert_int_equal(written(turned, sizeof turned, stream_write_rows_turned, words), FRAME_BYTES);
    assert_memory_equal(direct, turned, FRAME_BYTES);
    for (int i = 0; i < TURNED_WORDS * 8; i++) {
        assert_int_equal(turned[24 + i], (uint8_t)((uint64_t)words[i / 8] >> (8 * (i % 8))));
    }
}

TESTS(cmocka_unit_test(rows_are_little_endian_on_every_machine),
      cmocka_unit_test(crc32c_gives_the_vectors_of_rfc_3720), cmocka_unit_test(formatting_agrees_with_the_c_library),
      cmocka_unit_test(a_text_that_does_not_fit_is_cut_and_its_length_told),
      cmocka_unit_test(json_places_commas_and_escapes),
      cmocka_unit_test(whatever_bytes_a_text_has_its_json_is_utf_8), cmocka_unit_test(options_are_read_by_their_kind),
      cmocka_unit_test(options_refuse_what_they_do_not_know),
      cmocka_unit_test(options_take_values_both_ways_and_only_once),
      cmocka_unit_test(rows_that_commands_share_reach_each_command),
      cmocka_unit_test(cpu_lists_are_checked_against_the_machine))
