/* What every kind of solver is made of; for the files of this folder and their tests. */
#ifndef TAUTO_TIRE_KINDS_H
#define TAUTO_TIRE_KINDS_H

#include "tire/kernel.h"
#include "tire/solver.h"

struct tire_node {
    double x;
    double y;
    double vx;
    double vy;
};

struct tire_kind {
    const char *name;
    bool parallel;
    enum os_status (*create)(struct tire *tire);
    /* Also after a creation that failed half-way. */
    void (*destroy)(struct tire *tire);
    /* From copy `from` to the other one. */
    void (*step)(struct tire *tire, uint32_t thread, unsigned from, struct tire_stamps *stamps);
    int64_t (*nodes_of)(const struct tire *tire, uint32_t thread);
    struct tire_node (*get)(const struct tire *tire, unsigned copy, int64_t node);
    void (*put)(struct tire *tire, unsigned copy, int64_t node, const struct tire_node *state);
};

extern const struct tire_kind tire_kind_single;
extern const struct tire_kind tire_kind_semaphore;
extern const struct tire_kind tire_kind_mutex_pi;
extern const struct tire_kind tire_kind_halo;

struct tire {
    struct tire_model model;
    const struct tire_kind *kind;
    uint32_t threads;
    void *own; /* the kind's own state */
};

/* For tests: every mass where and how fast it shall be before step `steps`. */
void tire_write(struct tire *tire, uint64_t steps, const double *x_m, const double *y_m, const double *vx_m_s,
                const double *vy_m_s);
/* For tests and benchmarks: TIRE_HALO with this kernel instead of the widest. */
void tire_halo_use(struct tire *tire, tire_kernel *kernel);

#endif
