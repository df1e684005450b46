#include "value.h"

#include <string.h>

static const char *const kind_names[VALUE_KINDS] = {
    [VALUE_VOID] = "void",     [VALUE_OCTET] = "octet",   [VALUE_SHORT] = "short",
    [VALUE_LONG] = "long",     [VALUE_DOUBLE] = "double", [VALUE_STRUCT] = "struct",
    [VALUE_LONGS] = "longs",   [VALUE_OCTETS] = "octets", [VALUE_TIMED] = "timed",
};

/* Exact in 64-bit floating point after cubing, so that whoever carries it may not change a bit. */
enum { REAL_STEPS = 1024 };
static const double real_step = 0.125;

const char *value_kind_name(enum value_kind kind)
{
    return kind_names[kind];
}

uint32_t value_element_bytes(enum value_kind kind)
{
    switch (kind) {
    case VALUE_LONGS:
        return sizeof(int32_t);
    case VALUE_OCTETS:
        return sizeof(uint8_t);
    default:
        return 0;
    }
}

uint64_t value_bytes(enum value_kind kind, uint32_t length)
{
    static const uint64_t scalar_bytes[VALUE_KINDS] = {
        [VALUE_OCTET] = sizeof(uint8_t), [VALUE_SHORT] = sizeof(int16_t), [VALUE_LONG] = sizeof(int32_t),
        [VALUE_DOUBLE] = sizeof(double), [VALUE_STRUCT] = sizeof(uint8_t) + sizeof(int32_t) + sizeof(int16_t),
        [VALUE_TIMED] = sizeof(uint8_t),
    };
    return value_is_sequence(kind) ? (uint64_t)value_element_bytes(kind) * length : scalar_bytes[kind];
}

/* Unsigned arithmetic wraps where signed would be undefined; the low bits are the same. */
static uint8_t cubed_octet(uint8_t x)
{
    return (uint8_t)(x * x * x);
}

static int16_t cubed_short(int16_t x)
{
    const uint32_t wide = (uint16_t)x;
    return (int16_t)(uint16_t)(wide * wide * wide);
}

static int32_t cubed_long(int32_t x)
{
    const uint32_t wide = (uint32_t)x;
    return (int32_t)(wide * wide * wide);
}

/* The length is read once: octets could be stored over it, as far as the compiler knows. */
static void cube_elements(const struct value *value)
{
    const uint32_t length = value->length;
    if (value->kind == VALUE_LONGS) {
        int32_t *const longs = value->elements;
        for (uint32_t i = 0; i < length; i++) {
            longs[i] = cubed_long(longs[i]);
        }
    } else {
        uint8_t *const octets = value->elements;
        for (uint32_t i = 0; i < length; i++) {
            octets[i] = cubed_octet(octets[i]);
        }
    }
}

void value_cube(struct value *value)
{
    switch (value->kind) {
    case VALUE_OCTET:
    case VALUE_TIMED:
        value->scalar.octet = cubed_octet(value->scalar.octet);
        break;
    case VALUE_SHORT:
        value->scalar.short_integer = cubed_short(value->scalar.short_integer);
        break;
    case VALUE_LONG:
        value->scalar.long_integer = cubed_long(value->scalar.long_integer);
        break;
    case VALUE_DOUBLE:
        value->scalar.real = value->scalar.real * value->scalar.real * value->scalar.real;
        break;
    case VALUE_STRUCT:
        value->scalar.many.o = cubed_octet(value->scalar.many.o);
        value->scalar.many.l = cubed_long(value->scalar.many.l);
        value->scalar.many.s = cubed_short(value->scalar.many.s);
        break;
    case VALUE_LONGS:
    case VALUE_OCTETS:
        cube_elements(value);
        break;
    case VALUE_VOID:
    case VALUE_KINDS:
        break;
    }
}

static void fill_elements(const struct value *value, uint32_t from)
{
    const uint32_t length = value->length;
    if (value->kind == VALUE_LONGS) {
        int32_t *const longs = value->elements;
        for (uint32_t i = 0; i < length; i++) {
            longs[i] = (int32_t)(from + i);
        }
    } else {
        uint8_t *const octets = value->elements;
        for (uint32_t i = 0; i < length; i++) {
            octets[i] = (uint8_t)(from + i);
        }
    }
}

void value_fill(struct value *value, enum value_kind kind, uint32_t length, uint64_t k)
{
    const uint32_t number = (uint32_t)k;
    value->kind = kind;
    value->length = length;
    switch (kind) {
    case VALUE_OCTET:
    case VALUE_TIMED:
        value->scalar.octet = (uint8_t)number;
        break;
    case VALUE_SHORT:
        value->scalar.short_integer = (int16_t)number;
        break;
    case VALUE_LONG:
        value->scalar.long_integer = (int32_t)number;
        break;
    case VALUE_DOUBLE:
        value->scalar.real = real_step * (double)(number % REAL_STEPS);
        break;
    case VALUE_STRUCT:
        value->scalar.many =
            (struct value_many){.o = (uint8_t)number, .l = (int32_t)number, .s = (int16_t)number};
        break;
    case VALUE_LONGS:
    case VALUE_OCTETS:
        fill_elements(value, number);
        break;
    case VALUE_VOID:
    case VALUE_KINDS:
        break;
    }
}

static uint64_t bits_of(double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

bool value_equal(const struct value *one, const struct value *other)
{
    if (one->kind != other->kind || one->length != other->length) {
        return false;
    }
    switch (one->kind) {
    case VALUE_OCTET:
    case VALUE_TIMED:
        return one->scalar.octet == other->scalar.octet;
    case VALUE_SHORT:
        return one->scalar.short_integer == other->scalar.short_integer;
    case VALUE_LONG:
        return one->scalar.long_integer == other->scalar.long_integer;
    case VALUE_DOUBLE:
        return bits_of(one->scalar.real) == bits_of(other->scalar.real);
    case VALUE_STRUCT:
        return one->scalar.many.o == other->scalar.many.o && one->scalar.many.l == other->scalar.many.l &&
               one->scalar.many.s == other->scalar.many.s;
    case VALUE_LONGS:
    case VALUE_OCTETS:
        return one->length == 0 ||
               memcmp(one->elements, other->elements, value_bytes(one->kind, one->length)) == 0;
    case VALUE_VOID:
    case VALUE_KINDS:
        break;
    }
    return true;
}
