/*
 * A histogram that clips nothing: bins of 1 up to 512, then 256 bins for each doubling up to 2^36 (68 s), mirrored for
 * negative values; the outermost bins hold all that lies beyond. A quantile read from it is at most 1/256 too high and
 * never too low; minimum and maximum are exact. All its memory is there from the beginning, and whoever reads or
 * empties it looks only at the bins between the lowest and the highest that hold something.
 */
#ifndef TAUTO_HISTOGRAM_H
#define TAUTO_HISTOGRAM_H

#include "os/os.h"

struct histogram {
    uint64_t *bins; /* ascending */
    unsigned sub_bits; /* a doubling has 2^sub_bits bins: 8, or fewer if that is changed while all are empty */
    size_t lowest;  /* of the bins that are not empty; above `highest` when all are */
    size_t highest;
    uint64_t total;
    int64_t minimum;
    int64_t maximum;
};

/* What one takes. */
size_t histogram_bytes(void);
/* Its bins will be in `memory`, histogram_bytes() of zeroes, aligned as uint64_t is. */
void histogram_begin(struct histogram *histogram, void *memory);
void histogram_add(struct histogram *histogram, int64_t value);
/* Empties the bins; minimum and maximum stay. */
void histogram_clear(struct histogram *histogram);

/* The smallest bin edge that at least parts/whole of the values do not exceed: order statistic ceil(n p/w).
 * 0 when the histogram is empty. */
int64_t histogram_quantile(const struct histogram *histogram, uint64_t parts, uint64_t whole);

struct histogram_bin {
    int64_t low; /* both included */
    int64_t high;
    uint64_t count;
};
/* The next bin from `*at` on that is not empty, in ascending order; false when there is none. Start with 0. */
bool histogram_next(const struct histogram *histogram, size_t *at, struct histogram_bin *bin);

#endif
