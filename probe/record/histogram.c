#include "record/histogram.h"

#include <string.h>

enum {
    SUB_BITS = 10,
    SUB_BINS = 1 << SUB_BITS, /* of a block */
    /* One block for 0 … 1023, one for each of the 53 doublings up to 2^63. */
    SIDE_BLOCKS = 64 - SUB_BITS,
    SIDE_BINS = SIDE_BLOCKS * SUB_BINS,
    USUAL_BLOCKS = 18, /* up to 2^27 */
};
static const size_t block_bytes = SUB_BINS * sizeof(uint64_t);

_Static_assert(2 * SIDE_BLOCKS == HISTOGRAM_BLOCKS, "a block for each doubling on both sides");

size_t histogram_bytes(void)
{
    return USUAL_BLOCKS * block_bytes;
}

static enum os_status make_block(uint64_t **block)
{
    void *memory = NULL;
    const enum os_status status = os_memory_allocate(&memory, block_bytes);
    *block = memory;
    return status;
}

enum os_status histogram_create(struct histogram *histogram)
{
    enum os_status status = OS_OK;
    *histogram = (struct histogram){.minimum = INT64_MAX, .maximum = INT64_MIN};
    for (size_t i = 0; i < USUAL_BLOCKS && status == OS_OK; i++) {
        status = make_block(&histogram->blocks[SIDE_BLOCKS + i]);
    }
    return status;
}

void histogram_destroy(struct histogram *histogram)
{
    for (size_t i = 0; i < HISTOGRAM_BLOCKS; i++) {
        os_memory_free(histogram->blocks[i], block_bytes);
        histogram->blocks[i] = NULL;
    }
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

enum os_status histogram_add(struct histogram *histogram, int64_t value)
{
    const size_t bin = bin_of(value);
    uint64_t **const block = &histogram->blocks[bin / SUB_BINS];
    if (*block == NULL) {
        const enum os_status status = make_block(block);
        if (status != OS_OK) {
            return status;
        }
    }
    (*block)[bin % SUB_BINS]++;
    histogram->total++;
    histogram->minimum = value < histogram->minimum ? value : histogram->minimum;
    histogram->maximum = value > histogram->maximum ? value : histogram->maximum;
    return OS_OK;
}

void histogram_clear(struct histogram *histogram)
{
    for (size_t i = 0; i < HISTOGRAM_BLOCKS; i++) {
        if (histogram->blocks[i] != NULL) {
            memset(histogram->blocks[i], 0, block_bytes);
        }
    }
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
    while (*at < (size_t)2 * SIDE_BINS) {
        const uint64_t *const block = histogram->blocks[*at / SUB_BINS];
        if (block == NULL) {
            *at = (*at / SUB_BINS + 1) * SUB_BINS;
        } else if (block[*at % SUB_BINS] == 0) {
            (*at)++;
        } else {
            *bin = edges_of(*at);
            bin->count = block[*at % SUB_BINS];
            (*at)++;
            return true;
        }
    }
    return false;
}
