/* Values of every kind, and numbers that look random and are the same in every run. */
#ifndef TAUTO_TEST_VALUES_H
#define TAUTO_TEST_VALUES_H

#include "value.h"

#include <stddef.h>

enum { TEST_LENGTHS = 6, TEST_LONGEST = 16384 };
static const uint32_t test_lengths[TEST_LENGTHS] = {0, 1, 2, 7, 1001, TEST_LONGEST};

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline void fill_random(uint8_t *bytes, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(next_random(state) >> 32);
    }
}

/* Kind and length number `i` of all there are to try; false: that was all. */
static inline bool nth_value(uint32_t i, enum value_kind *kind, uint32_t *length)
{
    *length = 0;
    if (i < VALUE_KINDS) {
        *kind = (enum value_kind)i;
        return true;
    }
    i -= VALUE_KINDS;
    *kind = i / TEST_LENGTHS == 0 ? VALUE_LONGS : VALUE_OCTETS;
    *length = test_lengths[i % TEST_LENGTHS];
    return i < 2 * TEST_LENGTHS;
}

#endif
