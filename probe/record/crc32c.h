/* CRC32C (Castagnoli), RFC 3720 appendix B.4, eight bytes at a time. */
#ifndef TAUTO_CRC32C_H
#define TAUTO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

struct crc32c {
    uint32_t table[8][256];
};

void crc32c_prepare(struct crc32c *crc);
uint32_t crc32c_of(const struct crc32c *crc, const void *data, size_t bytes);
/* Of numbers of 64 bits, as the bytes that they have in the stream. */
uint32_t crc32c_of_words(const struct crc32c *crc, const void *words, size_t count);
/* The checksum of data that comes in pieces: `before` is that of the pieces before this one, 0 for the first. */
uint32_t crc32c_more(const struct crc32c *crc, uint32_t before, const void *data, size_t bytes);

#endif
