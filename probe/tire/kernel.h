/*
 * The innermost loop of TIRE_HALO, compiled once for each kind of vector instructions (probe/meson.build).
 *
 * The circle is cut into two arcs: mass i is element i of the upper arc, mass i + n/2 element i of the lower one, so that
 * both ends of a spoke have the same index. Each array begins with room for one element before index 0 and ends with
 * room for KERNEL_PAD after the last one: the halo, where each arc's ends find their neighbours in the other arc.
 */
#ifndef TAUTO_TIRE_KERNEL_H
#define TAUTO_TIRE_KERNEL_H

#include "tire/model.h"

#include <stddef.h>

enum { KERNEL_LANES_MOST = 8, KERNEL_PAD = KERNEL_LANES_MOST };

struct tire_arc {
    double *x;
    double *y;
    double *vx;
    double *vy;
};

struct tire_copy {
    struct tire_arc upper;
    struct tire_arc lower;
};

/* Elements first … last-1 of both arcs, at least one, read from `from` with the one before and the one behind, written to
 * `to`. Whole vectors: `first` is a multiple of KERNEL_LANES_MOST, and what lies between `last` and the next multiple is
 * read and written, too. `to` may be `from`: what is overwritten has been loaded before. */
typedef void tire_kernel(const struct tire_model *model, const struct tire_copy *from, const struct tire_copy *to,
                         size_t first, size_t last);

struct tire_kernel_entry {
    const char *name;
    tire_kernel *run;
};

/* The widest that this CPU has. */
struct tire_kernel_entry tire_kernel_here(void);
/* All that this CPU has, narrowest first; their number. For tests and benchmarks. */
size_t tire_kernels_here(struct tire_kernel_entry *entries, size_t room);

#endif
