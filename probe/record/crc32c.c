#include "record/crc32c.h"

#include "record/little_endian.h"

static const uint32_t reflected_polynomial = 0x82f63b78U;

void crc32c_prepare(struct crc32c *crc)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t remainder = byte;
        for (int bit = 0; bit < 8; bit++) {
            remainder = (remainder >> 1) ^ ((remainder & 1U) != 0 ? reflected_polynomial : 0U);
        }
        crc->table[0][byte] = remainder;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (int slice = 1; slice < 8; slice++) {
            const uint32_t before = crc->table[slice - 1][byte];
            crc->table[slice][byte] = (before >> 8) ^ crc->table[0][before & 0xffU];
        }
    }
}

static uint32_t little_endian_32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

uint32_t crc32c_of(const struct crc32c *crc, const void *data, size_t bytes)
{
    return crc32c_more(crc, 0, data, bytes);
}

uint32_t crc32c_more(const struct crc32c *crc, uint32_t before, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    uint32_t remainder = before ^ 0xffffffffU;
    for (; bytes >= 8; bytes -= 8, at += 8) {
        const uint32_t low = remainder ^ little_endian_32(at);
        const uint32_t high = little_endian_32(at + 4);
        remainder = crc->table[7][low & 0xffU] ^ crc->table[6][low >> 8 & 0xffU] ^
                    crc->table[5][low >> 16 & 0xffU] ^ crc->table[4][low >> 24] ^ crc->table[3][high & 0xffU] ^
                    crc->table[2][high >> 8 & 0xffU] ^ crc->table[1][high >> 16 & 0xffU] ^ crc->table[0][high >> 24];
    }
    for (; bytes > 0; bytes--, at++) {
        remainder = (remainder >> 8) ^ crc->table[0][(remainder ^ *at) & 0xffU];
    }
    return remainder ^ 0xffffffffU;
}

uint32_t crc32c_of_words(const struct crc32c *crc, const void *words, size_t count)
{
    uint8_t turned[WORDS_AT_ONCE * WORD_BYTES];
    uint32_t so_far = 0;
    for (size_t at = 0; at < count; at += WORDS_AT_ONCE) {
        const size_t some = put_words(turned, (const uint8_t *)words + at * WORD_BYTES, count - at);
        so_far = crc32c_more(crc, so_far, turned, some);
    }
    return so_far;
}
