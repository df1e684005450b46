/*
 * A PI controller of a motor's speed, with the motor simulated beside it: what a step does in a hardware-in-the-loop rig.
 *
 *     tauto step --header > tautochrone_step.h
 *     cc -O2 -shared -fPIC -o controller.so controller.c
 *     tauto step controller.so:controller --rate 1kHz
 */
#include "tautochrone_step.h"

#include <stdio.h>
#include <stdlib.h>

TAUTOCHRONE_STEP(controller)

struct controller {
    double integral;  /* of the error, in rad */
    double speed;     /* of the motor, in rad/s */
    int64_t before_ns;
};

static const double wanted_speed = 100.0;
static const double proportional = 0.8, integral = 4.0; /* V per rad/s, V per rad */
static const double gain = 2.0, time_constant_s = 0.05; /* rad/s per V; of the motor */

void *controller_init(void)
{
    return calloc(1, sizeof(struct controller));
}

int controller_step(void *context, uint64_t k, int64_t t_ns)
{
    struct controller *const own = context;
    const double step_s = k == 0 ? 0.0 : (double)(t_ns - own->before_ns) / 1e9; /* longer where releases were missed */
    const double error = wanted_speed - own->speed;
    own->integral += error * step_s;
    const double voltage = proportional * error + integral * own->integral;
    own->speed += (gain * voltage - own->speed) * step_s / time_constant_s;
    own->before_ns = t_ns;
    return own->speed < 1000.0 ? 0 : 1; /* it ran away: that ends the run */
}

void controller_end(void *context)
{
    struct controller *const own = context;
    fprintf(stderr, "controller: the motor turns at %.1f rad/s\n", own->speed);
    free(own);
}
