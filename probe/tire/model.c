/* The numbers of the tire; docs/tire.md derives them. Only +, -, *, / and sqrt are used, which are the same everywhere:
 * two machines compute the same tire to the last bit. (Sine and cosine of two C libraries differ.) */
#include "tire/model.h"

#include <math.h>
#include <stddef.h>

static const double pi = 3.14159265358979323846;
static const double mass_kg = 10;
static const double radius_m = 0.3;
static const double gravity_m_s2 = 9.81;
/* A ring spring without force is this part shorter than it is on the circle: the tension that makes a tire stiff. */
static const double ring_shortened = 0.25;
/* Damping in multiples of h k. From 1 on, a step of explicit Euler takes more energy away than it brings. */
static const double damping_factor = 1.5;
/* Three springs and dampers at a mass, the other ends of all of them moving against it: no motion meets more than six
 * times one of them (Gershgorin). */
static const double most_springs = 6;

static const double ns_per_s = 1e9;

static double seconds(int64_t time_ns)
{
    return (double)time_ns / ns_per_s;
}

/* Dampers may take all of a motion in a step, and turn it round, but not into a larger one: 6 h c/m < 2. */
double tire_stiffness_limit(int64_t step_ns)
{
    const double step_s = seconds(step_ns);
    return 2 / (most_springs * damping_factor * step_s * step_s);
}

double tire_stiffness_usual(int64_t step_ns)
{
    return tire_stiffness_limit(step_ns) / 2;
}

const char *tire_model_wrong(const struct tire_parameters *parameters)
{
    if (parameters->nodes < TIRE_NODES_LEAST || parameters->nodes > TIRE_NODES_MOST || parameters->nodes % 4 != 0) {
        return "the number of masses must be a multiple of 4, from 4 to 268435456";
    }
    if (parameters->step_ns <= 0) {
        return "the step must be longer than nothing";
    }
    if (!(parameters->stiffness_per_mass >= 0)) {
        return "the stiffness must not be negative";
    }
    if (parameters->stiffness_per_mass >= tire_stiffness_limit(parameters->step_ns)) {
        return "the tire is unstable with this stiffness and this step: take a shorter step, or less stiffness";
    }
    if (!(parameters->drop_m >= 0) || !isfinite(parameters->drop_m)) {
        return "the tire must begin on or above the floor";
    }
    return NULL;
}

/* From 0 to pi/4, where these terms leave less than a rounding. */
static double sine(double angle)
{
    const double square = angle * angle;
    double sum = 1;
    for (int term = 18; term >= 2; term -= 2) {
        sum = 1 - square / (term * (term + 1)) * sum;
    }
    return angle * sum;
}

static double cosine(double angle)
{
    const double square = angle * angle;
    double sum = 1;
    for (int term = 18; term >= 2; term -= 2) {
        sum = 1 - square / (term * (term - 1)) * sum;
    }
    return sum;
}

struct tire_model tire_model_of(const struct tire_parameters *parameters)
{
    const double step_s = seconds(parameters->step_ns);
    const double stiffness = parameters->stiffness_per_mass > 0 ? parameters->stiffness_per_mass
                                                                : tire_stiffness_usual(parameters->step_ns);
    const double half_angle_sine = sine(pi / (double)parameters->nodes);
    const double chord_m = 2 * radius_m * half_angle_sine;
    /* Two ring springs draw a mass inwards with 2 T sin(pi/n); its spoke is longer by what holds against that. */
    const double tension = ring_shortened * chord_m;
    const double spoke_m = 2 * radius_m + 2 * tension * half_angle_sine;
    const double damping = damping_factor * step_s * stiffness * step_s;
    return (struct tire_model){
        .parameters = *parameters,
        .mass_kg = mass_kg,
        .radius_m = radius_m,
        .step_s = step_s,
        .fall = parameters->gravity ? step_s * gravity_m_s2 : 0,
        .ring = {step_s * stiffness, step_s * stiffness * (chord_m - tension), damping},
        .spoke = {step_s * stiffness, step_s * stiffness * spoke_m, damping},
    };
}

/* Mass 0 is the rightmost one. Everything comes from one eighth of the circle, so that each mass has the numbers of its
 * mirror image. */
void tire_model_place(const struct tire_model *model, int64_t node, double *x_m, double *y_m)
{
    const int64_t nodes = model->parameters.nodes;
    const int64_t quarter = nodes / 4;
    const int64_t along = node % quarter;
    const int64_t back = quarter - along;
    const int64_t nearest = along < back ? along : back;
    const double angle = 2 * pi * (double)nearest / (double)nodes;
    const double less = model->radius_m * sine(angle);
    const double more = along == back ? less : model->radius_m * cosine(angle);
    const double forth = along < back ? more : less;
    const double side = along < back ? less : more;
    const double middle_m = model->parameters.drop_m + model->radius_m;
    switch (node / quarter) {
    case 0:
        *x_m = forth;
        *y_m = middle_m + side;
        break;
    case 1:
        *x_m = -side;
        *y_m = middle_m + forth;
        break;
    case 2:
        *x_m = -forth;
        *y_m = middle_m - side;
        break;
    default:
        *x_m = side;
        *y_m = middle_m - forth;
        break;
    }
}

int64_t tire_springs(int64_t nodes)
{
    return nodes + nodes / 2;
}
