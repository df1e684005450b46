#include "record/histogram.h"

#include <string.h>

enum {
    SUB_BITS = 10,
    SUB_BINS = 1 << SUB_BITS,
    /* One row of SUB_BINS for 0 … 1023, one for each of the 53 doublings up to 2^63. */
    SIDE_BINS = (64 - SUB_BITS) * SUB_BINS,
};

enum os_status histogram_create(struct histogram *histogram)
{
    void *memory = NULL;
    const enum os_status status = os_memory_allocate(&memory, 2UL * SIDE_BINS * sizeof(uint64_t));
    *histogram = (struct histogram){.counts = memory, .minimum = INT64_MAX, .maximum = INT64_MIN};
    return status;
}

void histogram_destroy(struct histogram *histogram)
{
    os_memory_free(histogram->counts, 2UL * SIDE_BINS * sizeof(uint64_t));
    histogram->counts = NULL;
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

/* Bin of a magnitude below 2^63. */
static size_t side_bin(uint64_t magnitude)
{
    if (magnitude < UINT64_C(2) * SUB_BINS) {
        return (size_t)magnitude;
    }
    const int shift = highest_bit(magnitude) - SUB_BITS;
    return (size_t)shift * SUB_BINS + (size_t)(magnitude >> shift);
}

static uint64_t side_low(size_t bin)
{
    if (bin < (size_t)2 * SUB_BINS) {
        return bin;
    }
    const size_t shift = bin / SUB_BINS - 1;
    return (uint64_t)(bin - shift * SUB_BINS) << shift;
}

static uint64_t side_high(size_t bin)
{
    return side_low(bin + 1) - 1;
}

/* Ascending over all values: negative ones lie mirrored below the middle (-1 - value is their magnitude). */
static size_t bin_of(int64_t value)
{
    return value >= 0 ? SIDE_BINS + side_bin((uint64_t)value) : SIDE_BINS - 1 - side_bin((uint64_t)(-1 - value));
}

static struct histogram_bin edges_of(size_t bin)
{
    if (bin >= SIDE_BINS) {
        const size_t side = bin - SIDE_BINS;
        return (struct histogram_bin){.low = (int64_t)side_low(side), .high = (int64_t)side_high(side)};
    }
    const size_t side = SIDE_BINS - 1 - bin;
    return (struct histogram_bin){.low = -1 - (int64_t)side_high(side), .high = -1 - (int64_t)side_low(side)};
}

void histogram_add(struct histogram *histogram, int64_t value)
{
    histogram->counts[bin_of(value)]++;
    histogram->total++;
    histogram->minimum = value < histogram->minimum ? value : histogram->minimum;
    histogram->maximum = value > histogram->maximum ? value : histogram->maximum;
}

void histogram_clear(struct histogram *histogram)
{
    memset(histogram->counts, 0, 2UL * SIDE_BINS * sizeof(uint64_t));
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
    for (; *at < (size_t)2 * SIDE_BINS; (*at)++) {
        if (histogram->counts[*at] != 0) {
            *bin = edges_of(*at);
            bin->count = histogram->counts[(*at)++];
            return true;
        }
    }
    return false;
}
