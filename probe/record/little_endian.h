/* The stream is little-endian, whatever the machine is (docs/stream.md). */
#ifndef TAUTO_LITTLE_ENDIAN_H
#define TAUTO_LITTLE_ENDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { WORDS_AT_ONCE = 512, WORD_BYTES = 8 };

/* Compilers decide it. */
static inline bool is_little_endian_here(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static inline void put_little_endian(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

/* Integers or floating-point numbers of 64 bits, at most WORDS_AT_ONCE of them; returns how many bytes that makes. */
static inline size_t put_words(uint8_t to[WORDS_AT_ONCE * WORD_BYTES], const uint8_t *words, size_t count)
{
    const size_t some = count < WORDS_AT_ONCE ? count : WORDS_AT_ONCE;
    for (size_t i = 0; i < some; i++) {
        uint64_t word;
        memcpy(&word, words + i * WORD_BYTES, WORD_BYTES);
        put_little_endian(to + i * WORD_BYTES, word, WORD_BYTES);
    }
    return some * WORD_BYTES;
}

#endif
