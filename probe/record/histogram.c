#include "record/histogram.h"

#include <string.h>

enum { USUAL_SUB_BITS = 8, TOP_BIT = 36 }; /* from 2^36 on there is one bin */

/* Of one sign. */
static size_t side_bins(unsigned sub_bits)
{
    return ((size_t)(TOP_BIT - sub_bits + 1) << sub_bits) + 1;
}

size_t histogram_bytes(void)
{
    return 2 * side_bins(USUAL_SUB_BITS) * sizeof(uint64_t);
}

void histogram_begin(struct histogram *histogram, void *memory)
{
    *histogram = (struct histogram){
        .bins = memory, .sub_bits = USUAL_SUB_BITS, .lowest = SIZE_MAX, .minimum = INT64_MAX, .maximum = INT64_MIN};
}

static unsigned highest_bit(uint64_t value)
{
    unsigned bit = 0;
    for (unsigned half = 32; half > 0; half /= 2) {
        if (value >> half != 0) {
            value >>= half;
            bit += half;
        }
    }
    return bit;
}

static size_t side_bin(uint64_t magnitude, unsigned sub_bits)
{
    const unsigned bit = highest_bit(magnitude | 1);
    if (bit <= sub_bits) {
        return (size_t)magnitude;
    }
    if (bit >= TOP_BIT) {
        return side_bins(sub_bits) - 1;
    }
    const unsigned shift = bit - sub_bits;
    return ((size_t)shift << sub_bits) + (size_t)(magnitude >> shift);
}

static int64_t side_low(size_t bin, unsigned sub_bits)
{
    const size_t doubling = bin >> sub_bits;
    if (doubling < 2) {
        return (int64_t)bin;
    }
    const size_t sub_bins = (size_t)1 << sub_bits;
    return (int64_t)((uint64_t)(sub_bins + bin % sub_bins) << (doubling - 1));
}

/* Negative values lie mirrored below the middle (-1 - value is their magnitude). */
static size_t bin_of(const struct histogram *histogram, int64_t value)
{
    const size_t side = side_bin((uint64_t)(value >= 0 ? value : -1 - value), histogram->sub_bits);
    const size_t middle = side_bins(histogram->sub_bits);
    return value >= 0 ? middle + side : middle - 1 - side;
}

static struct histogram_bin bin_at(const struct histogram *histogram, size_t bin)
{
    const size_t middle = side_bins(histogram->sub_bits);
    const bool negative = bin < middle;
    const size_t side = negative ? middle - 1 - bin : bin - middle;
    const int64_t low = side_low(side, histogram->sub_bits);
    const int64_t high = side == middle - 1 ? INT64_MAX : side_low(side + 1, histogram->sub_bits) - 1;
    return (struct histogram_bin){
        .low = negative ? -1 - high : low,
        .high = negative ? -1 - low : high,
        .count = histogram->bins[bin],
    };
}

void histogram_add(struct histogram *histogram, int64_t value)
{
    const size_t bin = bin_of(histogram, value);
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
    histogram->lowest = SIZE_MAX;
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
            *bin = bin_at(histogram, i);
            *at = i + 1;
            return true;
        }
    }
    *at = SIZE_MAX;
    return false;
}
