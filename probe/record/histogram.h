/*
 * A histogram that clips nothing: bins of 1 up to 2,048, then 1,024 bins for each doubling, over all of int64.
 * A quantile read from it is at most 1/1024 too high and never too low; minimum and maximum are exact.
 * Negative values have the mirrored bins. There is memory from the beginning for what latencies are, 0 to 2^27 (134 ms);
 * for each doubling beyond it is made when its first value comes.
 */
#ifndef TAUTO_HISTOGRAM_H
#define TAUTO_HISTOGRAM_H

#include "os/os.h"

enum { HISTOGRAM_BLOCKS = 108 }; /* of 1,024 bins; the negative ones come first */

struct histogram {
    uint64_t *blocks[HISTOGRAM_BLOCKS]; /* NULL: nothing has come there */
    uint64_t total;
    int64_t minimum;
    int64_t maximum;
};

enum os_status histogram_create(struct histogram *histogram);
void histogram_destroy(struct histogram *histogram);
/* What one takes from the beginning. */
size_t histogram_bytes(void);
/* OS_NO_MEMORY: of a doubling that nothing had come to before; the value is not in it. */
enum os_status histogram_add(struct histogram *histogram, int64_t value);
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
