/* Both copies of the state as records, one for each mass: for the solvers that go from mass to mass. */
#ifndef TAUTO_TIRE_NODES_H
#define TAUTO_TIRE_NODES_H

#include "tire/kinds.h"

/* The first member of such a kind's own state. */
struct tire_nodes {
    struct tire_node *copies[2];
};

enum os_status tire_nodes_create(struct tire *tire);
void tire_nodes_destroy(struct tire *tire);
struct tire_node tire_nodes_get(const struct tire *tire, unsigned copy, int64_t node);
void tire_nodes_put(struct tire *tire, unsigned copy, int64_t node, const struct tire_node *state);

#endif
