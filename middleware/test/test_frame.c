/* Frames that are well formed carry every value; whatever else comes is refused without a look beyond its bytes. */
#include "transport/frame.h"
#include "values.h"
#include "test/check.h"

#include <stdlib.h>
#include <string.h>

enum {
    SEQUENCE = 4711,
    /* As frame.h says. */
    BYTES_AT = 4,
    KIND_AT = 16,
    FLAGS_AT = 18,
    LENGTH_AT = 20,
    MANY_TRIES = 20000,
};

static int32_t elements[TEST_LONGEST];

/* In memory of its own of exactly its size, so that the address sanitizer sees a step beyond. */
static uint8_t *written(enum value_kind kind, uint32_t length, uint64_t k, struct value *value)
{
    value->elements = elements;
    value_fill(value, kind, length, k);
    uint8_t *const buffer = malloc(frame_bytes(kind, length));
    assert_non_null(buffer);
    frame_write(buffer, value);
    return buffer;
}

static void set_u32(uint8_t *buffer, size_t at, uint32_t number)
{
    memcpy(buffer + at, &number, sizeof number);
}

static void set_u16(uint8_t *buffer, size_t at, uint16_t number)
{
    memcpy(buffer + at, &number, sizeof number);
}

static void every_value_is_read_as_it_was_written(void **state)
{
    (void)state;
    enum value_kind kind;
    uint32_t length;
    for (uint32_t i = 0; nth_value(i, &kind, &length); i++) {
        struct value value = {.kind = VALUE_VOID};
        struct frame frame;
        uint32_t bytes = 0;
        uint8_t *const buffer = written(kind, length, i, &value);
        frame_stamp(buffer, FRAME_ONE_WAY, SEQUENCE);
        assert_int_equal(frame_begins(buffer, &bytes), FRAME_GOOD);
        assert_int_equal(bytes, frame_bytes(kind, length));
        assert_int_equal(bytes % FRAME_ALIGNMENT, 0);
        assert_int_equal(frame_read(buffer, bytes, &frame), FRAME_GOOD);
        assert_true(value_equal(&frame.value, &value));
        assert_true(frame.sequence == SEQUENCE);
        assert_int_equal(frame.flags, FRAME_ONE_WAY);
        assert_int_equal(frame.bytes, bytes);
        assert_true(frame_is_aligned(&frame));
        assert_true(!value_is_sequence(kind) || frame.value.elements == buffer + FRAME_HEADER_BYTES);
        free(buffer);
    }
}

static void what_is_cubed_in_place_goes_back_in_the_same_frame(void **state)
{
    (void)state;
    enum value_kind kind;
    uint32_t length;
    for (uint32_t i = 0; nth_value(i, &kind, &length); i++) {
        struct value expected = {.kind = VALUE_VOID};
        struct frame request;
        struct frame answer;
        uint8_t *const buffer = written(kind, length, i, &expected);
        frame_stamp(buffer, FRAME_REQUEST, SEQUENCE);
        const uint32_t bytes = frame_bytes(kind, length);
        assert_int_equal(frame_read(buffer, bytes, &request), FRAME_GOOD);
        value_cube(&request.value);
        request.value.arrived_ns = INT64_MAX - 1;
        frame_become_answer(buffer, &request);
        assert_int_equal(frame_read(buffer, bytes, &answer), FRAME_GOOD);
        value_cube(&expected);
        assert_true(value_equal(&answer.value, &expected));
        assert_int_equal(answer.flags, FRAME_ANSWER);
        assert_true(answer.sequence == SEQUENCE);
        assert_true(kind != VALUE_TIMED || answer.value.arrived_ns == INT64_MAX - 1);
        free(buffer);
    }
}

static void the_other_byte_order_is_told_apart(void **state)
{
    (void)state;
    struct value value = {.kind = VALUE_VOID};
    struct frame frame;
    uint32_t bytes = 0;
    uint8_t *const buffer = written(VALUE_LONG, 0, 1, &value);
    const uint8_t swapped[] = {buffer[3], buffer[2], buffer[1], buffer[0]};
    memcpy(buffer, swapped, sizeof swapped);
    assert_int_equal(frame_begins(buffer, &bytes), FRAME_FOREIGN);
    assert_int_equal(frame_read(buffer, FRAME_HEADER_BYTES, &frame), FRAME_FOREIGN);
    free(buffer);
}

static void assert_malformed(uint8_t *buffer, size_t bytes)
{
    struct frame frame;
    assert_int_equal(frame_read(buffer, bytes, &frame), FRAME_MALFORMED);
    free(buffer);
}

static void what_does_not_agree_with_itself_is_malformed(void **state)
{
    (void)state;
    struct value value = {.kind = VALUE_VOID};
    const uint32_t length = 100;
    const uint32_t bytes = frame_bytes(VALUE_LONGS, length);
    for (size_t less = 0; less < bytes; less++) { /* of which the last part has not come */
        uint8_t *const part = malloc(less + 1);
        uint8_t *const whole = written(VALUE_LONGS, length, 1, &value);
        memcpy(part, whole, less);
        free(whole);
        assert_malformed(part, less);
    }
    uint8_t *buffer = written(VALUE_LONGS, length, 1, &value);
    set_u16(buffer, KIND_AT, VALUE_KINDS);
    assert_malformed(buffer, bytes);
    buffer = written(VALUE_LONGS, length, 1, &value);
    set_u16(buffer, FLAGS_AT, 8);
    assert_malformed(buffer, bytes);
    buffer = written(VALUE_LONGS, length, 1, &value);
    set_u32(buffer, LENGTH_AT, length + 100);
    assert_malformed(buffer, bytes);
    buffer = written(VALUE_LONGS, length, 1, &value);
    set_u32(buffer, BYTES_AT, bytes + FRAME_ALIGNMENT);
    assert_malformed(buffer, bytes);
    buffer = written(VALUE_LONG, 0, 1, &value);
    set_u32(buffer, LENGTH_AT, 1);
    assert_malformed(buffer, FRAME_HEADER_BYTES);
}

static void a_length_whose_bytes_overflow_is_malformed(void **state)
{
    (void)state;
    const uint32_t lengths[] = {VALUE_LENGTH_LIMIT + 1, 0x40000000U, 0x40000001U, 0x3ffffff6U, UINT32_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct value value = {.kind = VALUE_VOID};
        uint32_t bytes = 0;
        uint8_t *const buffer = written(VALUE_LONGS, 0, 1, &value);
        set_u32(buffer, LENGTH_AT, lengths[i]);
        set_u32(buffer, BYTES_AT, frame_bytes(VALUE_LONGS, lengths[i]));
        assert_int_equal(frame_begins(buffer, &bytes), FRAME_MALFORMED);
        assert_malformed(buffer, FRAME_HEADER_BYTES);
    }
}

static void a_frame_that_lies_anywhere_is_read(void **state)
{
    (void)state;
    struct value value = {.kind = VALUE_VOID};
    const uint32_t bytes = frame_bytes(VALUE_LONGS, 3);
    uint8_t *const aligned = written(VALUE_LONGS, 3, 1, &value);
    uint8_t *const buffer = malloc(bytes + 1);
    assert_non_null(buffer);
    memcpy(buffer + 1, aligned, bytes);
    struct frame frame;
    assert_int_equal(frame_read(buffer + 1, bytes, &frame), FRAME_GOOD);
    assert_false(frame_is_aligned(&frame));
    assert_memory_equal(frame.value.elements, elements, 3 * sizeof(int32_t));
    free(aligned);
    free(buffer);
}

/* A frame, of which a few bytes are others. What is taken for good must stand being cubed. */
static void random_bytes_are_refused_or_harmless(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252U;
    uint32_t good = 0;
    for (uint32_t i = 0; i < MANY_TRIES; i++) {
        struct value value = {.kind = VALUE_VOID};
        struct frame frame;
        const enum value_kind kind = (enum value_kind)(next_random(&random) % VALUE_KINDS);
        const uint32_t length = value_is_sequence(kind) ? (uint32_t)(next_random(&random) % 300) : 0;
        uint8_t *const buffer = written(kind, length, i, &value);
        const uint32_t bytes = frame_bytes(kind, length);
        if (i % 10 == 0) {
            fill_random(buffer, bytes, &random);
        }
        for (uint64_t changes = next_random(&random) % 4; changes > 0; changes--) {
            fill_random(buffer + next_random(&random) % FRAME_HEADER_BYTES, 1, &random);
        }
        if (frame_read(buffer, bytes, &frame) == FRAME_GOOD) {
            good++;
            value_cube(&frame.value);
            frame_become_answer(buffer, &frame);
        }
        free(buffer);
    }
    assert_in_range(good, 1, MANY_TRIES - 1);
}

TESTS(cmocka_unit_test(every_value_is_read_as_it_was_written),
      cmocka_unit_test(what_is_cubed_in_place_goes_back_in_the_same_frame),
      cmocka_unit_test(the_other_byte_order_is_told_apart),
      cmocka_unit_test(what_does_not_agree_with_itself_is_malformed),
      cmocka_unit_test(a_length_whose_bytes_overflow_is_malformed),
      cmocka_unit_test(a_frame_that_lies_anywhere_is_read),
      cmocka_unit_test(random_bytes_are_refused_or_harmless))
