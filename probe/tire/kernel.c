/* One step of the masses of both arcs; see kernel.h. KERNEL_NAME and LANES come from the build. */
#include "tire/kernel.h"

#include <math.h>
#include <string.h>

/* Two masses in one place pull at each other in no direction, instead of in one that is not a number. */
static const double least_length_squared = 1e-300;

typedef double vec __attribute__((vector_size(8 * LANES)));
typedef int64_t mask __attribute__((vector_size(8 * LANES)));

struct state {
    vec x, y, vx, vy;
};
struct change {
    vec x, y;
};
struct spring {
    vec stiffness, pull, damping;
};

#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const double *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store(double *to, vec v)
{
    memcpy(to, &v, sizeof v);
}

INLINE vec all(double value)
{
    vec v;
    for (int lane = 0; lane < LANES; lane++) {
        v[lane] = value;
    }
    return v;
}

INLINE vec root(vec v)
{
    vec r;
    for (int lane = 0; lane < LANES; lane++) {
        r[lane] = sqrt(v[lane]);
    }
    return r;
}

/* All lanes one further on, with the last one of `a` in front: who comes before each of `b`, which lies behind `a`. */
#if LANES == 8
#define BEFORE(a, b) __builtin_shufflevector(a, b, 7, 8, 9, 10, 11, 12, 13, 14)
#elif LANES == 4
#define BEFORE(a, b) __builtin_shufflevector(a, b, 3, 4, 5, 6)
#else
#define BEFORE(a, b) __builtin_shufflevector(a, b, 1, 2)
#endif

INLINE struct state state_at(const struct tire_arc *arc, size_t at)
{
    return (struct state){load(arc->x + at), load(arc->y + at), load(arc->vx + at), load(arc->vy + at)};
}

INLINE struct spring spring_of(const struct tire_spring *one)
{
    return (struct spring){all(one->stiffness), all(one->pull), all(one->damping)};
}

/* What a spring and damper from a to b do to a. */
INLINE struct change pulled(const struct spring *spring, const struct state *a, const struct state *b)
{
    const vec dx = b->x - a->x;
    const vec dy = b->y - a->y;
    const vec length = root(dx * dx + dy * dy + all(least_length_squared));
    const vec factor = spring->stiffness - spring->pull / length;
    return (struct change){factor * dx + spring->damping * (b->vx - a->vx),
                           factor * dy + spring->damping * (b->vy - a->vy)};
}

/* Explicit Euler, and the floor: what would lie below it lies on it, and does not move down. */
INLINE void integrate(const struct tire_arc *to, size_t at, const struct state *now, struct change change, vec step)
{
    const vec y = now->y + step * now->vy;
    const vec vy = now->vy + change.y;
    const mask above = y > 0;
    const mask keeps = above | (vy > 0);
    store(to->x + at, now->x + step * now->vx);
    store(to->vx + at, now->vx + change.x);
    store(to->y + at, (vec)((mask)y & above));
    store(to->vy + at, (vec)((mask)vy & keeps));
}

INLINE vec last_lane(double value)
{
    vec v = all(0);
    v[LANES - 1] = value;
    return v;
}

/* The spring that ends at `first`: computed here, and by the thread before. */
INLINE struct change seam(const struct spring *spring, const struct tire_arc *arc, size_t first)
{
    const struct state before = state_at(arc, first - 1);
    const struct state here = state_at(arc, first);
    const struct change change = pulled(spring, &before, &here);
    return (struct change){last_lane(change.x[0]), last_lane(change.y[0])};
}

tire_kernel KERNEL_NAME;

void KERNEL_NAME(const struct tire_model *model, const struct tire_copy *from, const struct tire_copy *to, size_t first,
                 size_t last)
{
    const struct spring ring = spring_of(&model->ring);
    const struct spring spoke = spring_of(&model->spoke);
    const vec step = all(model->step_s);
    const vec fall = all(model->fall);
    const struct tire_copy source = *from;
    const struct tire_copy target = *to;

    struct change upper_before = seam(&ring, &source.upper, first);
    struct change lower_before = seam(&ring, &source.lower, first);
    for (size_t at = first; at < last; at += LANES) {
        const struct state upper = state_at(&source.upper, at);
        const struct state lower = state_at(&source.lower, at);
        /* Loaded once more, one further on: that is faster than to shift what is there. */
        const struct state upper_next = state_at(&source.upper, at + 1);
        const struct state lower_next = state_at(&source.lower, at + 1);
        const struct change u = pulled(&ring, &upper, &upper_next);
        const struct change l = pulled(&ring, &lower, &lower_next);
        const struct change s = pulled(&spoke, &upper, &lower);
        const struct change upper_change = {(u.x - BEFORE(upper_before.x, u.x)) + s.x,
                                            ((u.y - BEFORE(upper_before.y, u.y)) + s.y) - fall};
        const struct change lower_change = {(l.x - BEFORE(lower_before.x, l.x)) - s.x,
                                            ((l.y - BEFORE(lower_before.y, l.y)) - s.y) - fall};
        integrate(&target.upper, at, &upper, upper_change, step);
        integrate(&target.lower, at, &lower, lower_change, step);
        upper_before = u;
        lower_before = l;
    }
}
