#include "tire/solver.h"

#include "tire/kinds.h"

#include <stdlib.h>

static const struct tire_kind *const kinds[TIRE_SOLVER_COUNT] = {
    [TIRE_SINGLE] = &tire_kind_single,
    [TIRE_SEMAPHORE] = &tire_kind_semaphore,
    [TIRE_MUTEX_PI] = &tire_kind_mutex_pi,
    [TIRE_HALO] = &tire_kind_halo,
};

const char *const tire_solver_names[TIRE_SOLVER_COUNT + 1] = {
    [TIRE_SINGLE] = "single",
    [TIRE_SEMAPHORE] = "semaphore",
    [TIRE_MUTEX_PI] = "mutex-pi",
    [TIRE_HALO] = "halo",
};

enum os_status tire_create(struct tire **tire, const struct tire_model *model, enum tire_solver_kind kind,
                           uint32_t threads)
{
    struct tire *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    *made = (struct tire){.model = *model, .kind = kinds[kind], .threads = threads};
    const enum os_status status = made->kind->create(made);
    if (status != OS_OK) {
        tire_destroy(made);
        return status;
    }
    tire_reset(made);
    *tire = made;
    return OS_OK;
}

void tire_destroy(struct tire *tire)
{
    if (tire != NULL) {
        tire->kind->destroy(tire);
        free(tire);
    }
}

void tire_reset(struct tire *tire)
{
    for (int64_t node = 0; node < tire->model.parameters.nodes; node++) {
        struct tire_node state = {0};
        tire_model_place(&tire->model, node, &state.x, &state.y);
        tire->kind->put(tire, 0, node, &state);
    }
}

static unsigned copy_before(uint64_t step)
{
    return (unsigned)(step % 2);
}

void tire_step(struct tire *tire, uint32_t thread, uint64_t step, struct tire_stamps *stamps)
{
    tire->kind->step(tire, thread, copy_before(step), stamps);
}

int64_t tire_nodes_of(const struct tire *tire, uint32_t thread)
{
    return tire->kind->nodes_of(tire, thread);
}

static void set(double *values, int64_t node, double value)
{
    if (values != NULL) {
        values[node] = value;
    }
}

void tire_read(const struct tire *tire, uint64_t steps, double *x_m, double *y_m, double *vx_m_s, double *vy_m_s)
{
    for (int64_t node = 0; node < tire->model.parameters.nodes; node++) {
        const struct tire_node state = tire->kind->get(tire, copy_before(steps), node);
        set(x_m, node, state.x);
        set(y_m, node, state.y);
        set(vx_m_s, node, state.vx);
        set(vy_m_s, node, state.vy);
    }
}

void tire_write(struct tire *tire, uint64_t steps, const double *x_m, const double *y_m, const double *vx_m_s,
                const double *vy_m_s)
{
    for (int64_t node = 0; node < tire->model.parameters.nodes; node++) {
        const struct tire_node state = {x_m[node], y_m[node], vx_m_s[node], vy_m_s[node]};
        tire->kind->put(tire, copy_before(steps), node, &state);
    }
}

void tire_read_coarsely(const struct tire *tire, uint64_t steps, uint32_t stride, float *xy_m)
{
    for (int64_t node = 0; node < tire->model.parameters.nodes; node += stride) {
        const struct tire_node state = tire->kind->get(tire, copy_before(steps), node);
        *xy_m++ = (float)state.x;
        *xy_m++ = (float)state.y;
    }
}

const char *tire_vector_name(void)
{
    return tire_kernel_here().name;
}

int64_t tire_bytes_per_node(enum tire_solver_kind kind)
{
    const int64_t copies = kind == TIRE_HALO ? 1 : 2;
    return copies * (int64_t)sizeof(struct tire_node);
}
