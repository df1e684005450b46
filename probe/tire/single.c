/* TIRE_SINGLE: one thread, one mass after the other, each spring once. What the others are measured against. */
#include "tire/mass.h"
#include "tire/nodes.h"

#include <stdlib.h>

struct single {
    struct tire_nodes nodes;
    struct tire_change *ring;  /* spring i joins masses i and i + 1 */
    struct tire_change *spoke; /* spoke i joins masses i and i + n/2 */
};

static size_t forces_bytes(const struct tire *tire)
{
    return (size_t)tire_springs(tire->model.parameters.nodes) * sizeof(struct tire_change);
}

static enum os_status create(struct tire *tire)
{
    struct single *const own = calloc(1, sizeof *own);
    tire->own = own;
    if (own == NULL) {
        return OS_NO_MEMORY;
    }
    void *memory = NULL;
    enum os_status status = tire_nodes_create(tire);
    if (status == OS_OK) {
        status = os_memory_allocate(&memory, forces_bytes(tire));
    }
    if (status == OS_OK) {
        own->ring = memory;
        own->spoke = own->ring + tire->model.parameters.nodes;
    }
    return status;
}

static void destroy(struct tire *tire)
{
    struct single *const own = tire->own;
    if (own != NULL) {
        os_memory_free(own->ring, forces_bytes(tire));
        tire_nodes_destroy(tire);
        free(own);
    }
}

static void compute_forces(const struct tire *tire, const struct tire_node *now)
{
    const struct single *const own = tire->own;
    const int64_t nodes = tire->model.parameters.nodes;
    const int64_t half = nodes / 2;
    for (int64_t i = 0; i + 1 < nodes; i++) {
        own->ring[i] = tire_pulled(&tire->model.ring, &now[i], &now[i + 1]);
    }
    own->ring[nodes - 1] = tire_pulled(&tire->model.ring, &now[nodes - 1], &now[0]);
    for (int64_t i = 0; i < half; i++) {
        own->spoke[i] = tire_pulled(&tire->model.spoke, &now[i], &now[i + half]);
    }
}

static void integrate(const struct tire *tire, const struct tire_node *now, struct tire_node *next)
{
    const struct single *const own = tire->own;
    const struct tire_model *const model = &tire->model;
    const int64_t half = model->parameters.nodes / 2;
    struct tire_change before = own->ring[model->parameters.nodes - 1];
    for (int64_t i = 0; i < half; i++) {
        next[i] = tire_moved(&now[i], tire_sum(before, own->ring[i], own->spoke[i], model->fall), model->step_s);
        before = own->ring[i];
    }
    for (int64_t i = half; i < 2 * half; i++) {
        const struct tire_change spoke = {-own->spoke[i - half].x, -own->spoke[i - half].y};
        next[i] = tire_moved(&now[i], tire_sum(before, own->ring[i], spoke, model->fall), model->step_s);
        before = own->ring[i];
    }
}

static void step(struct tire *tire, uint32_t thread, unsigned from, struct tire_stamps *stamps)
{
    (void)thread;
    const struct single *const own = tire->own;
    const int64_t read_ns = stamps != NULL ? os_now_ns() : 0;
    compute_forces(tire, own->nodes.copies[from]);
    const int64_t forces_ns = stamps != NULL ? os_now_ns() : 0;
    integrate(tire, own->nodes.copies[from], own->nodes.copies[1 - from]);
    if (stamps != NULL) {
        const int64_t integrated_ns = os_now_ns();
        *stamps = (struct tire_stamps){read_ns, forces_ns, integrated_ns, integrated_ns};
    }
}

static int64_t nodes_of(const struct tire *tire, uint32_t thread)
{
    (void)thread;
    return tire->model.parameters.nodes;
}

const struct tire_kind tire_kind_single = {
    .name = "single",
    .create = create,
    .destroy = destroy,
    .step = step,
    .nodes_of = nodes_of,
    .get = tire_nodes_get,
    .put = tire_nodes_put,
};
