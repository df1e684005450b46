/* Tires to look at, for the tests: made, moved, read. */
#ifndef TAUTO_TEST_TIRE_RUN_H
#define TAUTO_TEST_TIRE_RUN_H

#include "tire/kinds.h"

#include "test/check.h"

#include <stdlib.h>
#include <string.h>

enum { TIRE_STEPS = 6000, TIRE_STEP_NS = 10000000 };

/* What tire_read gives: four numbers for each mass, each kind in a row of its own. */
struct tire_state {
    int64_t nodes;
    double *x;
    double *y;
    double *vx;
    double *vy;
};

static inline struct tire_state state_new(int64_t nodes)
{
    double *const numbers = calloc(4 * (size_t)nodes, sizeof *numbers);
    assert_non_null(numbers);
    return (struct tire_state){nodes, numbers, numbers + nodes, numbers + 2 * nodes, numbers + 3 * nodes};
}

static inline void state_free(struct tire_state *state)
{
    free(state->x);
}

static inline void state_read(struct tire_state *state, const struct tire *tire, uint64_t steps)
{
    tire_read(tire, steps, state->x, state->y, state->vx, state->vy);
}

static inline void state_write(const struct tire_state *state, struct tire *tire, uint64_t steps)
{
    tire_write(tire, steps, state->x, state->y, state->vx, state->vy);
}

static inline bool state_same(const struct tire_state *a, const struct tire_state *b)
{
    return a->nodes == b->nodes && memcmp(a->x, b->x, 4 * (size_t)a->nodes * sizeof(double)) == 0;
}

static inline struct tire *tire_new(const struct tire_parameters *parameters, enum tire_solver_kind kind,
                                    uint32_t threads)
{
    const struct tire_model model = tire_model_of(parameters);
    struct tire *tire = NULL;
    assert_int_equal(tire_create(&tire, &model, kind, threads), OS_OK);
    return tire;
}

/* All threads' parts in turn: no thread reads what another one writes in the same step. */
static inline void tire_run(struct tire *tire, uint32_t threads, uint64_t from, uint64_t to)
{
    for (uint64_t step = from; step < to; step++) {
        for (uint32_t thread = 0; thread < threads; thread++) {
            tire_step(tire, thread, step, NULL);
        }
    }
}

/* -1 … 1, the same in each run. */
static inline double random_number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (double)(int64_t)*seed / 9223372036854775808.0;
}

#endif
