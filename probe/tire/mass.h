/* One spring and one mass at a time: the same operations in the same order as in kernel.c, so that the results are the
 * same to the last bit. */
#ifndef TAUTO_TIRE_MASS_H
#define TAUTO_TIRE_MASS_H

#include "tire/kinds.h"

#include <math.h>

struct tire_change {
    double x;
    double y;
};

/* Two masses in one place pull at each other in no direction, instead of in one that is not a number. */
static const double tire_least_length_squared = 1e-300;

/* What a spring and damper from a to b do to a. To b they do the opposite, exactly. */
static inline struct tire_change tire_pulled(const struct tire_spring *spring, const struct tire_node *a,
                                             const struct tire_node *b)
{
    const double dx = b->x - a->x;
    const double dy = b->y - a->y;
    const double length = sqrt(dx * dx + dy * dy + tire_least_length_squared);
    const double factor = spring->stiffness - spring->pull / length;
    return (struct tire_change){factor * dx + spring->damping * (b->vx - a->vx),
                                factor * dy + spring->damping * (b->vy - a->vy)};
}

/* Of a mass with ring springs from the mass before and to the next one, and a spoke, each seen from its first mass. */
static inline struct tire_change tire_sum(struct tire_change before, struct tire_change after, struct tire_change spoke,
                                          double fall)
{
    return (struct tire_change){(after.x - before.x) + spoke.x, ((after.y - before.y) + spoke.y) - fall};
}

/* Explicit Euler, and the floor: what would lie below it lies on it, and does not move down. */
static inline struct tire_node tire_moved(const struct tire_node *now, struct tire_change change, double step_s)
{
    struct tire_node next = {now->x + step_s * now->vx, now->y + step_s * now->vy, now->vx + change.x,
                             now->vy + change.y};
    if (!(next.y > 0)) {
        next.y = 0;
        next.vy = next.vy > 0 ? next.vy : 0;
    }
    return next;
}

#endif
