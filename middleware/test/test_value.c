/* What is cubed, kind by kind: sizes, wrap-around, and arguments that differ from call to call. */
#include "test/check.h"
#include "value.h"
#include "values.h"

#include <string.h>

enum { OCTETS = 256, FILLS = 300 };

static void each_kind_has_its_size(void **state)
{
    (void)state;
    assert_int_equal(value_bytes(VALUE_VOID, 0), 0);
    assert_int_equal(value_bytes(VALUE_OCTET, 0), 1);
    assert_int_equal(value_bytes(VALUE_SHORT, 0), 2);
    assert_int_equal(value_bytes(VALUE_LONG, 0), 4);
    assert_int_equal(value_bytes(VALUE_DOUBLE, 0), 8);
    assert_int_equal(value_bytes(VALUE_STRUCT, 0), 7);
    assert_int_equal(value_bytes(VALUE_TIMED, 0), 1);
    assert_int_equal(value_bytes(VALUE_LONGS, 3), 12);
    assert_int_equal(value_bytes(VALUE_OCTETS, 3), 3);
    assert_true(value_bytes(VALUE_LONGS, VALUE_LENGTH_LIMIT) == 4ULL * VALUE_LENGTH_LIMIT);
    for (int kind = 0; kind < VALUE_KINDS; kind++) {
        const bool many = kind == VALUE_LONGS || kind == VALUE_OCTETS;
        assert_int_equal(value_is_sequence((enum value_kind)kind), many);
        assert_int_equal(value_element_bytes((enum value_kind)kind) != 0, many);
        assert_true(strlen(value_kind_name((enum value_kind)kind)) > 0);
    }
}

static void small_numbers_are_cubed(void **state)
{
    (void)state;
    struct value value = {.kind = VALUE_OCTET, .scalar.octet = 3};
    value_cube(&value);
    assert_int_equal(value.scalar.octet, 27);
    value = (struct value){.kind = VALUE_SHORT, .scalar.short_integer = -3};
    value_cube(&value);
    assert_int_equal(value.scalar.short_integer, -27);
    value = (struct value){.kind = VALUE_LONG, .scalar.long_integer = -1000};
    value_cube(&value);
    assert_int_equal(value.scalar.long_integer, -1000000000);
    value = (struct value){.kind = VALUE_DOUBLE, .scalar.real = -1.5};
    value_cube(&value);
    assert_true(value.scalar.real == -3.375);
    value = (struct value){.kind = VALUE_STRUCT, .scalar.many = {.o = 2, .l = -2, .s = 5}};
    value_cube(&value);
    assert_int_equal(value.scalar.many.o, 8);
    assert_int_equal(value.scalar.many.l, -8);
    assert_int_equal(value.scalar.many.s, 125);
    value = (struct value){.kind = VALUE_TIMED, .scalar.octet = 4, .arrived_ns = 7};
    value_cube(&value);
    assert_int_equal(value.scalar.octet, 64);
    assert_int_equal(value.arrived_ns, 7);
}

/* As the type has it: no more and no less of the result than fits. */
static void large_numbers_keep_the_low_bits_of_their_cubes(void **state)
{
    (void)state;
    for (int i = 0; i < OCTETS; i++) {
        struct value value = {.kind = VALUE_OCTET, .scalar.octet = (uint8_t)i};
        value_cube(&value);
        assert_int_equal(value.scalar.octet, i * i * i % OCTETS);
    }
    for (int64_t i = INT16_MIN; i <= INT16_MAX; i++) {
        struct value value = {.kind = VALUE_SHORT, .scalar.short_integer = (int16_t)i};
        value_cube(&value);
        assert_int_equal(value.scalar.short_integer, (int16_t)(uint16_t)(uint64_t)(i * i * i));
    }
    static const int32_t longs[] = {INT32_MIN, INT32_MIN + 1, -65537, 65535, 123456789, INT32_MAX};
    for (size_t i = 0; i < sizeof longs / sizeof longs[0]; i++) {
        struct value value = {.kind = VALUE_LONG, .scalar.long_integer = longs[i]};
        const uint64_t wide = (uint64_t)(int64_t)longs[i];
        value_cube(&value);
        assert_int_equal(value.scalar.long_integer, (int32_t)(uint32_t)(wide * wide * wide));
    }
}

static void every_element_of_a_sequence_is_cubed(void **state)
{
    (void)state;
    int32_t longs[] = {0, 1, -2, 3, INT32_MAX};
    const int32_t cubes[] = {0, 1, -8, 27, INT32_MAX};
    struct value value = {.kind = VALUE_LONGS, .length = 5, .elements = longs};
    value_cube(&value);
    assert_memory_equal(longs, cubes, sizeof cubes);
    uint8_t octets[] = {5, 255, 9};
    value = (struct value){.kind = VALUE_OCTETS, .length = 2, .elements = octets};
    value_cube(&value);
    assert_int_equal(octets[0], 125);
    assert_int_equal(octets[1], 255);
    assert_int_equal(octets[2], 9); /* beyond its length */
}

static void arguments_differ_from_call_to_call(void **state)
{
    (void)state;
    static int32_t elements[2][TEST_LONGEST];
    enum value_kind kind;
    uint32_t length;
    for (uint32_t i = 0; nth_value(i, &kind, &length); i++) {
        if (kind == VALUE_VOID || (value_is_sequence(kind) && length == 0)) {
            continue; /* nothing in it */
        }
        for (uint64_t k = 0; k < FILLS; k++) {
            struct value one = {.elements = elements[0]};
            struct value next = {.elements = elements[1]};
            value_fill(&one, kind, length, k);
            value_fill(&next, kind, length, k + 1);
            assert_false(value_equal(&one, &next));
            value_fill(&next, kind, length, k);
            assert_true(value_equal(&one, &next));
        }
    }
}

/* The client of the latency experiment sends odd octets only: no answer passes for another one. */
static void odd_octets_have_cubes_of_their_own(void **state)
{
    (void)state;
    bool seen[OCTETS] = {false};
    for (int i = 1; i < OCTETS; i += 2) {
        struct value value = {.kind = VALUE_OCTET, .scalar.octet = (uint8_t)i};
        value_cube(&value);
        assert_false(seen[value.scalar.octet]);
        seen[value.scalar.octet] = true;
    }
}

static void one_bit_makes_a_difference(void **state)
{
    (void)state;
    static int32_t elements[2][TEST_LONGEST];
    enum value_kind kind;
    uint32_t length;
    for (uint32_t i = 0; nth_value(i, &kind, &length); i++) {
        if (!value_is_sequence(kind) || length == 0) {
            continue;
        }
        struct value one = {.elements = elements[0]};
        struct value other = {.elements = elements[1]};
        value_fill(&one, kind, length, i);
        value_fill(&other, kind, length, i);
        uint8_t *const last = (uint8_t *)other.elements + value_bytes(kind, length) - 1;
        *last ^= 0x80;
        assert_false(value_equal(&one, &other));
    }
    struct value one = {.kind = VALUE_DOUBLE, .scalar.real = 0.0};
    struct value other = {.kind = VALUE_DOUBLE, .scalar.real = -0.0};
    assert_false(value_equal(&one, &other)); /* nobody may change a bit on the way */
    other = (struct value){.kind = VALUE_OCTET};
    assert_false(value_equal(&one, &other));
}

TESTS(cmocka_unit_test(each_kind_has_its_size), cmocka_unit_test(small_numbers_are_cubed),
      cmocka_unit_test(large_numbers_keep_the_low_bits_of_their_cubes),
      cmocka_unit_test(every_element_of_a_sequence_is_cubed), cmocka_unit_test(arguments_differ_from_call_to_call),
      cmocka_unit_test(odd_octets_have_cubes_of_their_own), cmocka_unit_test(one_bit_makes_a_difference))
