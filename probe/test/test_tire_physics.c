/* The tire does what a tire does. Numbers are of docs/tire.md; "per kg" stands for "divided by the mass of one node". */
#include "test/tire_run.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
static const double gravity_m_s2 = 9.81;
static const double high_m = 1000; /* no floor to be met */

static struct tire_parameters floating(int64_t nodes)
{
    return (struct tire_parameters){.nodes = nodes, .step_ns = TIRE_STEP_NS, .drop_m = high_m};
}

static double mean(const double *values, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum / (double)count;
}

static double largest(const double *values, int64_t count)
{
    double found = 0;
    for (int64_t i = 0; i < count; i++) {
        found = isfinite(values[i]) ? fmax(found, fabs(values[i])) : INFINITY;
    }
    return found;
}

static double speed_of(const struct tire_state *state)
{
    return fmax(largest(state->vx, state->nodes), largest(state->vy, state->nodes));
}

/* Every mass gets a velocity, and its place is shaken; the centre stays, and does not move. */
static void shake(struct tire_state *state, double speed_m_s, double shift_m)
{
    uint64_t seed = 1;
    double *const all[] = {state->x, state->y, state->vx, state->vy};
    for (int i = 0; i < 4; i++) {
        const double size = i < 2 ? shift_m : speed_m_s;
        const double before = mean(all[i], state->nodes);
        for (int64_t k = 0; k < state->nodes; k++) {
            all[i][k] += size * random_number(&seed);
        }
        const double moved = mean(all[i], state->nodes) - before;
        for (int64_t k = 0; k < state->nodes; k++) {
            all[i][k] -= moved;
        }
    }
}

static struct tire *shaken(const struct tire_parameters *parameters, struct tire_state *state, double speed_m_s,
                           double shift_m)
{
    struct tire *const tire = tire_new(parameters, TIRE_HALO, 1);
    *state = state_new(parameters->nodes);
    state_read(state, tire, 0);
    shake(state, speed_m_s, shift_m);
    state_write(state, tire, 0);
    return tire;
}

static void in_free_flight_the_centre_follows_explicit_euler(void **state)
{
    (void)state;
    static const struct {
        int64_t nodes;
        uint64_t steps;
    } cases[] = {{4, TIRE_STEPS}, {8, TIRE_STEPS}, {400, TIRE_STEPS}, {100000, 40}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tire_parameters parameters = floating(cases[i].nodes);
        parameters.gravity = true;
        parameters.drop_m = 20000; /* 60 s of falling are 17.7 km */
        struct tire_state found;
        struct tire *const tire = shaken(&parameters, &found, 1, 0.1);
        const double x = mean(found.x, found.nodes);
        const double y = mean(found.y, found.nodes);
        tire_run(tire, 1, 0, cases[i].steps);
        state_read(&found, tire, cases[i].steps);
        /* The velocity of step k is -g h k, so that after s steps it fell g h^2 (0 + 1 + … + (s - 1)). */
        const double steps = (double)cases[i].steps;
        const double h = (double)TIRE_STEP_NS / 1e9;
        assert_true(fabs(mean(found.vy, found.nodes) + gravity_m_s2 * h * steps) < 1e-9);
        assert_true(fabs(y - mean(found.y, found.nodes) - gravity_m_s2 * h * h * steps * (steps - 1) / 2) < 1e-7);
        assert_true(fabs(mean(found.vx, found.nodes)) < 1e-12);
        assert_true(fabs(mean(found.x, found.nodes) - x) < 1e-11);
        state_free(&found);
        tire_destroy(tire);
    }
}

static void springs_change_no_momentum(void **state)
{
    (void)state;
    static const int64_t cases[] = {4, 8, 12, 40, 404};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct tire_parameters parameters = floating(cases[i]);
        struct tire_state found;
        struct tire *const tire = shaken(&parameters, &found, 3, 0.2);
        assert_true(speed_of(&found) > 1);
        for (uint64_t steps = 0; steps < TIRE_STEPS; steps += 100) {
            tire_run(tire, 1, steps, steps + 100);
            state_read(&found, tire, steps + 100);
            assert_true(fabs(mean(found.vx, found.nodes)) < 1e-12);
            assert_true(fabs(mean(found.vy, found.nodes)) < 1e-12);
        }
        state_free(&found);
        tire_destroy(tire);
    }
}

static void the_circle_is_in_equilibrium(void **state)
{
    (void)state;
    static const int64_t cases[] = {4, 8, 12, 40, 404};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tire_parameters parameters = floating(cases[i]);
        parameters.drop_m = 1;
        struct tire *const tire = tire_new(&parameters, TIRE_HALO, 1);
        struct tire_state found = state_new(cases[i]);
        tire_run(tire, 1, 0, TIRE_STEPS);
        state_read(&found, tire, TIRE_STEPS);
        assert_true(speed_of(&found) < 1e-14);
        state_free(&found);
        tire_destroy(tire);
    }
}

/* ---- Energy ---------------------------------------------------------------------------------------------------- */

struct energies {
    double kinetic;  /* sum of v^2/2 */
    double damped;   /* sum over the dampers of (c/m) (vb - va)^2, times the step */
    double springs;  /* sum of (k/m) (length - length without force)^2 / 2 */
    double gravity;
};

static void add_spring(struct energies *sum, const struct tire_model *model, const struct tire_spring *spring,
                       const struct tire_state *at, int64_t a, int64_t b)
{
    const double length = hypot(at->x[b] - at->x[a], at->y[b] - at->y[a]);
    const double stretched = length - spring->pull / spring->stiffness;
    const double vx = at->vx[b] - at->vx[a];
    const double vy = at->vy[b] - at->vy[a];
    sum->springs += spring->stiffness / model->step_s * stretched * stretched / 2;
    sum->damped += spring->damping * (vx * vx + vy * vy);
}

static struct energies energies_of(const struct tire_model *model, const struct tire_state *at)
{
    struct energies sum = {0};
    const int64_t half = at->nodes / 2;
    for (int64_t i = 0; i < at->nodes; i++) {
        sum.kinetic += (at->vx[i] * at->vx[i] + at->vy[i] * at->vy[i]) / 2;
        sum.gravity += model->fall / model->step_s * at->y[i];
        add_spring(&sum, model, &model->ring, at, i, (i + 1) % at->nodes);
    }
    for (int64_t i = 0; i < half; i++) {
        add_spring(&sum, model, &model->spoke, at, i, i + half);
    }
    return sum;
}

/*
 * What explicit Euler with these dampers never lets grow, however large the motion (docs/tire.md proves it): kinetic
 * energy, less a quarter of what the dampers take in a step, and the potential energy half-way between this step
 * and the next one.
 */
static double discrete_energy(const struct tire_model *model, const struct tire_state *now,
                              const struct tire_state *next)
{
    const struct energies a = energies_of(model, now);
    const struct energies b = energies_of(model, next);
    return a.kinetic - a.damped / 4 + (a.springs + a.gravity + b.springs + b.gravity) / 2;
}

static void assert_energy_never_grows(const struct tire_parameters *parameters, double speed_m_s, double shift_m)
{
    const struct tire_model model = tire_model_of(parameters);
    struct tire_state now;
    struct tire_state next = state_new(parameters->nodes);
    struct tire *const tire = shaken(parameters, &now, speed_m_s, shift_m);
    double before = INFINITY;
    double at_first = 0;
    for (uint64_t step = 0; step < TIRE_STEPS / 4; step++) {
        tire_run(tire, 1, step, step + 1);
        state_read(&next, tire, step + 1);
        const double energy = discrete_energy(&model, &now, &next);
        at_first = step == 0 ? energy : at_first;
        assert_true(energy <= before + 1e-12 * fabs(at_first));
        assert_true(parameters->gravity || energy >= 0);
        before = energy;
        const struct tire_state swap = now;
        now = next;
        next = swap;
    }
    state_free(&now);
    state_free(&next);
    tire_destroy(tire);
}

static void energy_never_grows(void **state)
{
    (void)state;
    static const int64_t cases[] = {4, 8, 12, 40, 404};
    static const double of_limit[] = {0.05, 0.5, 0.999};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t k = 0; k < sizeof of_limit / sizeof of_limit[0]; k++) {
            struct tire_parameters parameters = floating(cases[i]);
            parameters.drop_m = 10;
            parameters.stiffness_per_mass = of_limit[k] * tire_stiffness_limit(TIRE_STEP_NS);
            assert_energy_never_grows(&parameters, 0.1, 0.01);
            assert_energy_never_grows(&parameters, 10, 0.3); /* turned inside out */
            parameters.gravity = true;
            parameters.drop_m = 1200;
            assert_energy_never_grows(&parameters, 10, 0.3);
        }
    }
}

/* ---- On the floor ---------------------------------------------------------------------------------------------- */

static double mechanical(const struct tire_model *model, const struct tire_state *at)
{
    const struct energies sum = energies_of(model, at);
    return sum.kinetic + sum.springs + sum.gravity;
}

static double lowest(const struct tire_state *at)
{
    double found = INFINITY;
    for (int64_t i = 0; i < at->nodes; i++) {
        found = fmin(found, at->y[i]);
    }
    return found;
}

/* The first contact comes after 0.32 s. */
static void assert_comes_to_rest(int64_t nodes, int64_t step_ns, uint64_t steps)
{
    const struct tire_parameters parameters = {.nodes = nodes, .step_ns = step_ns, .drop_m = 0.5, .gravity = true};
    const struct tire_model model = tire_model_of(&parameters);
    struct tire *const tire = tire_new(&parameters, TIRE_HALO, 1);
    struct tire_state found = state_new(nodes);
    const uint64_t landed = (uint64_t)(500000000 / step_ns);
    state_read(&found, tire, 0);
    const double at_first = mechanical(&model, &found);
    double before = at_first;
    for (uint64_t step = 0; step < steps; step++) {
        tire_run(tire, 1, step, step + 1);
        state_read(&found, tire, step + 1);
        assert_true(lowest(&found) >= 0);
        if (step >= landed && step % landed == 0) {
            const double energy = mechanical(&model, &found);
            assert_true(energy <= before + 1e-12 * at_first);
            before = energy;
        }
    }
    assert_true(lowest(&found) == 0);
    assert_true(speed_of(&found) < 1e-9);
    assert_true(mechanical(&model, &found) < 0.9 * at_first);
    state_free(&found);
    tire_destroy(tire);
}

static void the_tire_comes_to_rest_on_the_floor(void **state)
{
    (void)state;
    assert_comes_to_rest(4, TIRE_STEP_NS, TIRE_STEPS);
    assert_comes_to_rest(8, TIRE_STEP_NS, TIRE_STEPS);
    assert_comes_to_rest(12, TIRE_STEP_NS, TIRE_STEPS);
    assert_comes_to_rest(40, TIRE_STEP_NS, TIRE_STEPS);
    assert_comes_to_rest(64, TIRE_STEP_NS / 10, 5ULL * TIRE_STEPS);
}

/* ---- The step -------------------------------------------------------------------------------------------------- */

/* All masses swing in and out together: every spring stays in its direction, so that the radius is an oscillator with
 * omega^2 = (k/m) (4 sin^2(pi/n) + 2), and a cosine. The dampers vanish with the step. */
static double breathing_error(int64_t nodes, double stiffness, int64_t step_ns, int64_t time_ns)
{
    const double swing = 0.02;
    const struct tire_parameters parameters = {
        .nodes = nodes, .step_ns = step_ns, .stiffness_per_mass = stiffness, .drop_m = 1};
    const struct tire_model model = tire_model_of(&parameters);
    struct tire *const tire = tire_new(&parameters, TIRE_HALO, 1);
    struct tire_state found = state_new(nodes);
    const double middle_m = 1 + model.radius_m;
    state_read(&found, tire, 0);
    for (int64_t i = 0; i < nodes; i++) {
        found.x[i] *= 1 + swing / model.radius_m;
        found.y[i] = middle_m + (found.y[i] - middle_m) * (1 + swing / model.radius_m);
    }
    state_write(&found, tire, 0);
    const uint64_t steps = (uint64_t)(time_ns / step_ns);
    tire_run(tire, 1, 0, steps);
    state_read(&found, tire, steps);
    const double s = sin(pi / (double)nodes);
    const double angle = sqrt(stiffness * (4 * s * s + 2)) * (double)time_ns / 1e9;
    const double error = fabs(found.x[0] - model.radius_m - swing * cos(angle));
    state_free(&found);
    tire_destroy(tire);
    return error;
}

static void half_the_step_is_half_the_error(void **state)
{
    (void)state;
    static const int64_t cases[] = {4, 8, 40};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double before = breathing_error(cases[i], 1000, 200000, 100000000);
        for (int64_t step_ns = 100000; step_ns >= 12500; step_ns /= 2) {
            const double error = breathing_error(cases[i], 1000, step_ns, 100000000);
            assert_true(before / error > 1.6 && before / error < 2.4);
            before = error;
        }
        assert_true(before < 1e-3);
    }
}

static double speed_after_a_touch(int64_t nodes, double of_limit)
{
    struct tire_parameters parameters = floating(nodes);
    parameters.stiffness_per_mass = of_limit * tire_stiffness_limit(TIRE_STEP_NS);
    struct tire_state found;
    struct tire *const tire = shaken(&parameters, &found, 1e-6, 0);
    tire_run(tire, 1, 0, TIRE_STEPS);
    state_read(&found, tire, TIRE_STEPS);
    const double speed = speed_of(&found);
    state_free(&found);
    tire_destroy(tire);
    return speed;
}

/* The limit holds for any tire in any shape. A round one of many masses is lost a quarter above it, one of 8 masses at
 * half as much again. */
static void the_limit_of_stiffness_is_one(void **state)
{
    (void)state;
    assert_true(speed_after_a_touch(8, 0.999) < 1e-6);
    assert_true(speed_after_a_touch(400, 0.999) < 1e-6);
    assert_true(speed_after_a_touch(400, 1.25) > 1);
    assert_true(speed_after_a_touch(8, 1.5) > 1);
    assert_true(speed_after_a_touch(8, 2) > 1e6);
    assert_true(speed_after_a_touch(400, 2) > 1e6);
}

TESTS(cmocka_unit_test(in_free_flight_the_centre_follows_explicit_euler),
      cmocka_unit_test(springs_change_no_momentum), cmocka_unit_test(the_circle_is_in_equilibrium),
      cmocka_unit_test(energy_never_grows), cmocka_unit_test(the_tire_comes_to_rest_on_the_floor),
      cmocka_unit_test(half_the_step_is_half_the_error), cmocka_unit_test(the_limit_of_stiffness_is_one))
