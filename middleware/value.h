/* What is cubed: a value of one of the types of cubit.idl, free of any transport's own types. */
#ifndef TAUTO_VALUE_H
#define TAUTO_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum value_kind {
    VALUE_VOID,
    VALUE_OCTET,
    VALUE_SHORT,
    VALUE_LONG,
    VALUE_DOUBLE,
    VALUE_STRUCT,
    VALUE_LONGS,  /* a sequence: `length` elements of int32_t */
    VALUE_OCTETS, /* a sequence: `length` elements of uint8_t */
    VALUE_TIMED,  /* an octet; the answer also says when the request arrived */
    VALUE_KINDS,
};

struct value_many {
    uint8_t o;
    int32_t l;
    int16_t s;
};

enum { VALUE_LENGTH_LIMIT = 4194304 };

struct value {
    enum value_kind kind;
    uint32_t length; /* elements of a sequence, otherwise 0 */
    union {
        uint8_t octet; /* of VALUE_TIMED too */
        int16_t short_integer;
        int32_t long_integer;
        double real;
        struct value_many many;
    } scalar;
    void *elements;     /* of a sequence, otherwise NULL */
    int64_t arrived_ns; /* of an answer of VALUE_TIMED */
};

/* As in cubit.idl: "void", "octet", "short", "long", "double", "struct", "longs", "octets", "timed". */
const char *value_kind_name(enum value_kind kind);
static inline bool value_is_sequence(enum value_kind kind)
{
    return kind == VALUE_LONGS || kind == VALUE_OCTETS;
}
/* Bytes of its elements; 0 where it is no sequence. */
uint32_t value_element_bytes(enum value_kind kind);
/* Bytes of it all, as it lies in memory. */
uint64_t value_bytes(enum value_kind kind, uint32_t length);

/* Every number in it to the power of three, in place; integers keep the low bits of the result, as their type has it. */
void value_cube(struct value *value);
/* Its numbers are those of call `k`: different from call to call. The elements have room for `length`. */
void value_fill(struct value *value, enum value_kind kind, uint32_t length, uint64_t k);
/* The same kind, length and numbers; arrived_ns is no part of it. */
bool value_equal(const struct value *one, const struct value *other);

#ifdef __cplusplus
}
#endif

#endif
