/* Numbers in messages: the lowest byte first, whatever this machine does. */
#ifndef TAUTO_STEP_BYTES_H
#define TAUTO_STEP_BYTES_H

#include <stdint.h>
#include <string.h>

static inline void put_bytes(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(value >> (8 * i));
    }
}

static inline uint64_t get_bytes(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value |= (uint64_t)at[i] << (8 * i);
    }
    return value;
}

static inline void put_doubles(unsigned char *at, const double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, &values[i], sizeof bits);
        put_bytes(at + (size_t)i * sizeof bits, bits, sizeof bits);
    }
}

static inline void get_doubles(const unsigned char *at, double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t bits = get_bytes(at + (size_t)i * sizeof bits, sizeof bits);
        memcpy(&values[i], &bits, sizeof bits);
    }
}

#endif
