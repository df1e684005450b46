#include "record/histogram.h"

#include <string.h>

enum {
    SUB_BITS = 8,
    SUB_BINS = 1 << SUB_BITS, /* of a doubling */
    TOP_BIT = 36,             /* from 2^36 on there is one bin */
    SIDE_BINS = (TOP_BIT - SUB_BITS + 1) * SUB_BINS + 1,
    BINS = 2 * SIDE_BINS,
};

size_t histogram_bytes(void)
{
    return BINS * sizeof(uint64_t);
}

void histogram_begin(struct histogram *histogram, void *memory)
{
    *histogram = (struct histogram){.bins = memory, .lowest = BINS, .minimum = INT64_MAX, .maximum = INT64_MIN};
}

static int highest_bit(uint64_t value)
{
    int bit = 0;
    for (int half = 32; half > 0; half /= 2) {
        if (value >> half != 0) {
            value >>= half;
            bit += half;
        }
    }
    return bit;
}

static size_t side_bin(uint64_t magnitude)
{
    if (magnitude < UINT64_C(2) * SUB_BINS) {
        return (size_t)magnitude;
    }
    const int bit = highest_bit(magnitude);
    if (bit >= TOP_BIT) {
        return SIDE_BINS - 1;
    }
    const int shift = bit - SUB_BITS;
    return (size_t)shift * SUB_BINS + (size_t)(magnitude >> shift);
}

static int64_t side_low(size_t bin)
{
    if (bin < (size_t)2 * SUB_BINS) {
        return (int64_t)bin;
    }
    const size_t doubling = bin / SUB_BINS; /* at least the second */
    return doubling > TOP_BIT ? INT64_MAX : (int64_t)((uint64_t)(SUB_BINS + bin % SUB_BINS) << (doubling - 1));
}

static int64_t side_high(size_t bin)
{
    return bin == SIDE_BINS - 1 ? INT64_MAX : side_low(bin + 1) - 1;
}

/* Negative values lie mirrored below the middle (-1 - value is their magnitude). */
static size_t bin_of(int64_t value)
{
    return value >= 0 ? SIDE_BINS + side_bin((uint64_t)value) : SIDE_BINS - 1 - side_bin((uint64_t)(-1 - value));
}

static size_t side_of(size_t bin)
{
    return bin < SIDE_BINS ? SIDE_BINS - 1 - bin : bin - SIDE_BINS;
}

static bool are_told_as_one(size_t one, size_t other, unsigned coarse)
{
    return (one < SIDE_BINS) == (other < SIDE_BINS) && side_of(one) >> coarse == side_of(other) >> coarse;
}

static struct histogram_bin bin_at(size_t bin, unsigned coarse)
{
    const size_t first = side_of(bin) >> coarse << coarse;
    const size_t last = first + ((size_t)1 << coarse) - 1;
    const int64_t low = side_low(first);
    const int64_t high = side_high(last < SIDE_BINS ? last : SIDE_BINS - 1);
    return bin < SIDE_BINS ? (struct histogram_bin){-1 - high, -1 - low, 0} : (struct histogram_bin){low, high, 0};
}

void histogram_add(struct histogram *histogram, int64_t value)
{
    const size_t bin = bin_of(value);
    histogram->bins[bin]++;
    histogram->lowest = bin < histogram->lowest ? bin : histogram->lowest;
    histogram->highest = bin > histogram->highest ? bin : histogram->highest;
    histogram->total++;
    histogram->minimum = value < histogram->minimum ? value : histogram->minimum;
    histogram->maximum = value > histogram->maximum ? value : histogram->maximum;
}

void histogram_clear(struct histogram *histogram)
{
    if (histogram->total > 0) {
        memset(histogram->bins + histogram->lowest, 0,
               (histogram->highest - histogram->lowest + 1) * sizeof *histogram->bins);
    }
    histogram->lowest = BINS;
    histogram->highest = 0;
    histogram->total = 0;
}

int64_t histogram_quantile(const struct histogram *histogram, uint64_t parts, uint64_t whole)
{
    /* ceil(total * parts / whole) without overflow */
    const uint64_t rank = histogram->total / whole * parts + (histogram->total % whole * parts + whole - 1) / whole;
    uint64_t seen = 0;
    size_t at = 0;
    struct histogram_bin bin;
    while (histogram_next(histogram, &at, &bin)) {
        seen += bin.count;
        if (seen >= rank) {
            return bin.high < histogram->maximum ? bin.high : histogram->maximum;
        }
    }
    return 0;
}

bool histogram_next(const struct histogram *histogram, size_t *at, struct histogram_bin *bin)
{
    for (size_t i = *at > histogram->lowest ? *at : histogram->lowest; i <= histogram->highest; i++) {
        if (histogram->bins[i] != 0) {
            *bin = bin_at(i, histogram->coarse);
            const size_t first = i;
            for (; i <= histogram->highest && are_told_as_one(i, first, histogram->coarse); i++) {
                bin->count += histogram->bins[i];
            }
            *at = i;
            return true;
        }
    }
    *at = BINS;
    return false;
}
