/*
 * Solvers of one and the same tire, one file each. All of them do the same IEEE operations in the same order for each
 * mass, so that they agree to the last bit: no fused multiply-add, whatever vector instructions are used.
 *
 * What threads see of each other is there twice: step k reads copy k mod 2 and writes the other one. Between two steps all
 * threads must meet (os_barrier); that is the caller's part, as is the time.
 */
#ifndef TAUTO_TIRE_SOLVER_H
#define TAUTO_TIRE_SOLVER_H

#include "os/os.h"
#include "tire/model.h"

enum tire_solver_kind {
    TIRE_SINGLE,    /* one thread, mass after mass, no lock: garre2014 Figure 4(a) */
    TIRE_SEMAPHORE, /* garre2014 Algorithm 1: a binary semaphore for each mass */
    TIRE_MUTEX_PI,  /* the same with mutexes that inherit priority */
    TIRE_HALO,      /* arrays, vector instructions, each spring computed once, nothing shared but at the seams */
    TIRE_SOLVER_COUNT,
};

/* The ends of the parts of a thread's step; garre2014 Figure 4. A solver without such a part repeats the instant before. */
struct tire_stamps {
    int64_t read_ns;       /* red: own masses and those they are joined to are read */
    int64_t forces_ns;     /* green: spring forces */
    int64_t integrated_ns; /* green: positions and velocities */
    int64_t written_ns;    /* red: own masses are written */
};

struct tire;

extern const char *const tire_solver_names[]; /* ends with NULL */

/* OS_NO_MEMORY, OS_UNSUPPORTED (this system has no such lock). `threads` is at least 1, at most the number of masses;
 * 1 for TIRE_SINGLE. Allocates and touches everything. */
enum os_status tire_create(struct tire **tire, const struct tire_model *model, enum tire_solver_kind kind,
                           uint32_t threads);
void tire_destroy(struct tire *tire);
/* Back to the beginning. No thread may be in a step. */
void tire_reset(struct tire *tire);

/* Step `step` (0, 1, 2, …) of thread `thread`. `stamps` may be NULL: then no clock is read. */
void tire_step(struct tire *tire, uint32_t thread, uint64_t step, struct tire_stamps *stamps);

/* How many masses this thread has; 0 is possible where there are few of them for many threads. */
int64_t tire_nodes_of(const struct tire *tire, uint32_t thread);
/* State after `steps` steps, in the order of the masses; each array has room for all masses, or is NULL. */
void tire_read(const struct tire *tire, uint64_t steps, double *x_m, double *y_m, double *vx_m_s, double *vy_m_s);
/* The same for positions of every `stride`-th mass, as 32-bit numbers, x and y in turn. */
void tire_read_coarsely(const struct tire *tire, uint64_t steps, uint32_t stride, float *xy_m);

/* "avx512", "avx2", "sse2", "neon", "scalar": what TIRE_HALO computes with here. */
const char *tire_vector_name(void);
int64_t tire_bytes_per_node(enum tire_solver_kind kind); /* of state, all copies, without locks */

#endif
