#include "tire/nodes.h"

static size_t bytes_of(const struct tire *tire)
{
    return 2 * (size_t)tire->model.parameters.nodes * sizeof(struct tire_node);
}

enum os_status tire_nodes_create(struct tire *tire)
{
    struct tire_nodes *const nodes = tire->own;
    void *memory = NULL;
    const enum os_status status = os_memory_allocate(&memory, bytes_of(tire));
    if (status == OS_OK) {
        nodes->copies[0] = memory;
        nodes->copies[1] = nodes->copies[0] + tire->model.parameters.nodes;
    }
    return status;
}

void tire_nodes_destroy(struct tire *tire)
{
    const struct tire_nodes *const nodes = tire->own;
    os_memory_free(nodes->copies[0], bytes_of(tire));
}

struct tire_node tire_nodes_get(const struct tire *tire, unsigned copy, int64_t node)
{
    const struct tire_nodes *const nodes = tire->own;
    return nodes->copies[copy][node];
}

void tire_nodes_put(struct tire *tire, unsigned copy, int64_t node, const struct tire_node *state)
{
    const struct tire_nodes *const nodes = tire->own;
    nodes->copies[copy][node] = *state;
}
