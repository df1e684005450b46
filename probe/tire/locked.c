/*
 * Algorithm 1 of garre2014: each thread has n/i masses in a row. It reads the three masses that each of them is joined
 * to, computes the springs at its masses (2e+1 of them for e masses: those at the ends are computed by two threads),
 * moves its masses, and writes them. A mass is read as a neighbour, and written, only by who holds its lock: 3e + e
 * accesses, the 4e of equation (2). Its own masses a thread reads without: nobody else writes them.
 *
 * Ours are the two copies of the state, and the meeting between two steps. Without them a thread would read what its
 * neighbour had already moved, or had not, as the scheduler wills, and no two runs would give the same tire.
 */
#include "tire/locked.h"

#include "tire/mass.h"
#include "tire/nodes.h"

#include <stdlib.h>

/* What one thread works on; nobody else sees it. */
struct part {
    int64_t first;
    int64_t count;
    struct tire_node *around;   /* own masses with one more at each end: [k + 1] is mass first + k */
    struct tire_node *opposite; /* [k] is opposite of mass first + k */
    struct tire_change *ring;   /* [k] joins around[k] and around[k + 1] */
    struct tire_change *spoke;
};

struct locked {
    struct tire_nodes nodes;
    const struct tire_lock_kind *kind;
    void **locks; /* one for each mass; NULL: not made yet */
    struct part *parts;
    void *memory; /* of all parts */
    size_t memory_bytes;
};

static int64_t first_of(const struct tire *tire, uint32_t thread)
{
    return tire->model.parameters.nodes * (int64_t)thread / (int64_t)tire->threads;
}

static enum os_status make_locks(const struct tire *tire, struct locked *own)
{
    const int64_t nodes = tire->model.parameters.nodes;
    own->locks = calloc((size_t)nodes, sizeof(void *));
    enum os_status status = own->locks != NULL ? OS_OK : OS_NO_MEMORY;
    for (int64_t i = 0; status == OS_OK && i < nodes; i++) {
        status = own->kind->create(&own->locks[i]);
    }
    return status;
}

/* Each part begins on a cache line of its own. */
static size_t part_bytes(int64_t count)
{
    enum { CACHE_LINE = 64 };
    const size_t masses = (size_t)count;
    const size_t bytes = (2 * masses + 2) * sizeof(struct tire_node) + (2 * masses + 1) * sizeof(struct tire_change);
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static enum os_status make_parts(const struct tire *tire, struct locked *own)
{
    own->parts = calloc(tire->threads, sizeof *own->parts);
    if (own->parts == NULL) {
        return OS_NO_MEMORY;
    }
    for (uint32_t thread = 0; thread < tire->threads; thread++) {
        own->parts[thread].first = first_of(tire, thread);
        own->parts[thread].count = first_of(tire, thread + 1) - own->parts[thread].first;
        own->memory_bytes += part_bytes(own->parts[thread].count);
    }
    const enum os_status status = os_memory_allocate(&own->memory, own->memory_bytes);
    char *free_bytes = own->memory;
    for (uint32_t thread = 0; status == OS_OK && thread < tire->threads; thread++) {
        struct part *const part = &own->parts[thread];
        part->around = (void *)free_bytes;
        part->opposite = part->around + part->count + 2;
        part->ring = (void *)(part->opposite + part->count);
        part->spoke = part->ring + part->count + 1;
        free_bytes += part_bytes(part->count);
    }
    return status;
}

enum os_status tire_locked_create(struct tire *tire, const struct tire_lock_kind *locks)
{
    struct locked *const own = calloc(1, sizeof *own);
    tire->own = own;
    if (own == NULL) {
        return OS_NO_MEMORY;
    }
    own->kind = locks;
    enum os_status status = tire_nodes_create(tire);
    if (status == OS_OK) {
        status = make_parts(tire, own);
    }
    return status == OS_OK ? make_locks(tire, own) : status;
}

void tire_locked_destroy(struct tire *tire)
{
    struct locked *const own = tire->own;
    if (own == NULL) {
        return;
    }
    for (int64_t i = 0; own->locks != NULL && i < tire->model.parameters.nodes; i++) {
        own->kind->destroy(own->locks[i]);
    }
    free(own->locks);
    os_memory_free(own->memory, own->memory_bytes);
    free(own->parts);
    tire_nodes_destroy(tire);
    free(own);
}

static void look_at(const struct locked *own, const struct tire_node *now, int64_t mass, struct tire_node *seen)
{
    own->kind->acquire(own->locks[mass]);
    *seen = now[mass];
    own->kind->release(own->locks[mass]);
}

static void read_masses(const struct locked *own, const struct part *part, const struct tire_node *now, int64_t nodes)
{
    const int64_t half = nodes / 2;
    for (int64_t k = 0; k < part->count; k++) {
        const int64_t mass = part->first + k;
        part->around[k + 1] = now[mass];
        look_at(own, now, mass > 0 ? mass - 1 : nodes - 1, &part->around[k]);
        look_at(own, now, mass + 1 < nodes ? mass + 1 : 0, &part->around[k + 2]);
        look_at(own, now, mass < half ? mass + half : mass - half, &part->opposite[k]);
    }
}

static void compute_forces(const struct tire_model *model, const struct part *part)
{
    for (int64_t k = 0; k <= part->count; k++) {
        part->ring[k] = tire_pulled(&model->ring, &part->around[k], &part->around[k + 1]);
    }
    for (int64_t k = 0; k < part->count; k++) {
        part->spoke[k] = tire_pulled(&model->spoke, &part->around[k + 1], &part->opposite[k]);
    }
}

static void integrate(const struct tire_model *model, const struct part *part)
{
    for (int64_t k = 0; k < part->count; k++) {
        struct tire_node *const mass = &part->around[k + 1];
        *mass = tire_moved(mass, tire_sum(part->ring[k], part->ring[k + 1], part->spoke[k], model->fall),
                           model->step_s);
    }
}

static void write_masses(const struct locked *own, const struct part *part, struct tire_node *next)
{
    for (int64_t k = 0; k < part->count; k++) {
        const int64_t mass = part->first + k;
        own->kind->acquire(own->locks[mass]);
        next[mass] = part->around[k + 1];
        own->kind->release(own->locks[mass]);
    }
}

void tire_locked_step(struct tire *tire, uint32_t thread, unsigned from, struct tire_stamps *stamps)
{
    const struct locked *const own = tire->own;
    const struct part *const part = &own->parts[thread];
    read_masses(own, part, own->nodes.copies[from], tire->model.parameters.nodes);
    const int64_t read_ns = stamps != NULL ? os_now_ns() : 0;
    compute_forces(&tire->model, part);
    const int64_t forces_ns = stamps != NULL ? os_now_ns() : 0;
    integrate(&tire->model, part);
    const int64_t integrated_ns = stamps != NULL ? os_now_ns() : 0;
    write_masses(own, part, own->nodes.copies[1 - from]);
    if (stamps != NULL) {
        *stamps = (struct tire_stamps){read_ns, forces_ns, integrated_ns, os_now_ns()};
    }
}

int64_t tire_locked_nodes_of(const struct tire *tire, uint32_t thread)
{
    const struct locked *const own = tire->own;
    return own->parts[thread].count;
}
