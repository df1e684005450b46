/*
 * The tire of garre2014, 4.1: n point masses on a circle, n a multiple of 4. Mass i is joined by a spring and a damper
 * to both neighbours (n ring springs) and to mass i + n/2 opposite (n/2 spokes). Gravity pulls it from free fall onto a
 * floor at y = 0, which is a constraint on positions. One step is explicit Euler, the same number of operations always.
 * docs/tire.md derives the numbers.
 */
#ifndef TAUTO_TIRE_MODEL_H
#define TAUTO_TIRE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { TIRE_NODES_LEAST = 4, TIRE_NODES_MOST = 1 << 28 };

struct tire_parameters {
    int64_t nodes;
    int64_t step_ns;
    double stiffness_per_mass; /* of a ring spring, divided by a mass, in 1/s^2; 0: tire_stiffness_usual() */
    double drop_m;             /* free fall before the lowest mass meets the floor */
    bool gravity;
};

/* What one step needs; all in one mass, so that the mass itself cancels out. A spring from a to b with d = b - a gives
 * a the change of velocity (stiffness - pull / |d|) d + damping (vb - va), and b the opposite. */
struct tire_spring {
    double stiffness; /* h k / m, in 1/s */
    double pull;      /* h k l0 / m, l0 the length without force, in m/s */
    double damping;   /* h c / m, without unit */
};

struct tire_model {
    struct tire_parameters parameters;
    double mass_kg; /* of all masses together */
    double radius_m;
    double step_s;
    double fall; /* h g, in m/s */
    struct tire_spring ring;
    struct tire_spring spoke;
};

/* The stiffness per mass that is used when none is given: half of the limit. */
double tire_stiffness_usual(int64_t step_ns);
/* Explicit Euler is stable below this one, for any number of masses, in any shape and at any speed. */
double tire_stiffness_limit(int64_t step_ns);

/* NULL when all is well, otherwise what is wrong, as a sentence for people that stays valid. */
const char *tire_model_wrong(const struct tire_parameters *parameters);
/* Of parameters in which nothing is wrong. */
struct tire_model tire_model_of(const struct tire_parameters *parameters);

/* Where mass `node` is at the beginning, at rest. Left and right mirror each other to the last bit. */
void tire_model_place(const struct tire_model *model, int64_t node, double *x_m, double *y_m);

int64_t tire_springs(int64_t nodes);

#endif
