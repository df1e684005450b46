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

#endif
