/* Arithmetic of whole numbers: shifts, divisions, tables, branches, calls. */
#include "load/cpu_methods.h"

#include <string.h>

enum { STEPS = 8000, PAIRS = 200, CRC_BYTES = 1024, SIEVE = 8000, DISKS = 14, FIBONACCI = 20, BITS = 8 };

static uint64_t next(uint64_t state)
{
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    return state;
}

static uint64_t xorshift(uint64_t seed)
{
    uint64_t state = seed | 1U;
    for (int i = 0; i < STEPS; i++) {
        state = next(state);
    }
    return state;
}

/* Euclid. */
static uint64_t common_divisors(uint64_t seed)
{
    uint64_t state = seed | 1U;
    uint64_t sum = 0;
    for (int i = 0; i < PAIRS; i++) {
        state = next(state);
        uint64_t a = state >> 20U;
        uint64_t b = (state & 0xffffffffU) | 1U;
        while (b != 0) {
            const uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        sum += a;
    }
    return sum;
}

/* Bit by bit, with the polynomial of Ethernet. */
static uint64_t crc32(uint64_t seed)
{
    uint64_t state = seed | 1U;
    uint32_t crc = 0xffffffffU;
    for (int i = 0; i < CRC_BYTES; i++) {
        state = next(state);
        crc ^= (uint32_t)(state & 0xffU);
        for (int bit = 0; bit < BITS; bit++) {
            crc = (crc >> 1U) ^ (0xedb88320U & (0U - (crc & 1U)));
        }
    }
    return ~crc;
}

/* Eratosthenes: the primes below a number that the seed chooses. */
static uint64_t primes(uint64_t seed)
{
    uint8_t is_composite[SIEVE];
    const size_t end = SIEVE - (size_t)(seed % 1000U);
    uint64_t sum = 0;
    memset(is_composite, 0, sizeof is_composite);
    for (size_t i = 2; i < end; i++) {
        if (is_composite[i] == 0) {
            sum = sum * 31U + i;
            for (size_t k = i * i; k < end; k += i) {
                is_composite[k] = 1;
            }
        }
    }
    return sum;
}

/* Moves the disks from peg to peg; what is summed up is which went where. NOLINTNEXTLINE(misc-no-recursion) */
static uint64_t move_disks(int disks, uint64_t from, uint64_t to, uint64_t sum)
{
    if (disks == 0) {
        return sum;
    }
    sum = move_disks(disks - 1, from, 3U - from - to, sum);
    sum = sum * 5U + (uint64_t)disks * (from + 3U * to);
    return move_disks(disks - 1, 3U - from - to, to, sum);
}

static uint64_t hanoi(uint64_t seed)
{
    return move_disks(DISKS, 0, 1 + seed % 2U, seed);
}

/* By its definition, call for call. NOLINTNEXTLINE(misc-no-recursion) */
static uint64_t fibonacci_number(int n, uint64_t first)
{
    return n < 2 ? first + (uint64_t)n : fibonacci_number(n - 1, first) + fibonacci_number(n - 2, first);
}

static uint64_t fibonacci(uint64_t seed)
{
    return fibonacci_number(FIBONACCI, seed & 0xffffU);
}

/* Counts and reverses bits, and looks up the result in a table that it changes. */
static uint64_t bits(uint64_t seed)
{
    uint8_t table[256];
    uint64_t state = seed | 1U;
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof table; i++) {
        table[i] = (uint8_t)(i * 167U + seed);
    }
    for (int i = 0; i < STEPS / BITS; i++) {
        state = next(state);
        uint64_t reversed = 0;
        uint64_t count = 0;
        for (int bit = 0; bit < BITS; bit++) {
            reversed = (reversed << 1U) | ((state >> (unsigned)bit) & 1U);
            count += (state >> (unsigned)(bit * 7)) & 1U;
        }
        table[reversed & 0xffU] = (uint8_t)(table[count] + reversed);
        sum += table[state & 0xffU];
    }
    return sum;
}

const struct cpu_method cpu_integers[] = {
    {"xorshift", xorshift}, {"gcd", common_divisors},   {"crc", crc32},   {"primes", primes},
    {"hanoi", hanoi},       {"fibonacci", fibonacci},   {"bits", bits},   {NULL, NULL},
};
