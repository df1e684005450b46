/*
 * TIRE_HALO: a thread has pairs of opposite masses, so that its spokes end in its own part; of others it needs one mass at
 * each end of either arc (kernel.h). These four ends are all that threads tell each other: in two copies, one to be read
 * in a step and one to be written, so that no lock is needed, only the meeting between two steps.
 *
 * Everything else is updated where it lies: the kernel has loaded what it overwrites. Whole copies would need twice the
 * memory, and half as much traffic again, as a cache line has to be fetched before it is written. Beyond the caches that
 * is what the time of a step is made of, for one thread, and much more for several that share the memory.
 */
#include "tire/kinds.h"

#include <stdlib.h>

enum {
    CACHE_LINE = 64,
    LINE = CACHE_LINE / sizeof(double),
    PAGE_LINES = 64, /* addresses 4,096 bytes apart hinder each other in the first-level cache */
    STAGGER_LINES = 5,
    ARRAYS = 8,
    COPIES = 2,
};

enum end { UPPER_FIRST, UPPER_LAST, LOWER_FIRST, LOWER_LAST, ENDS };

/* What the others see of a part; whole cache lines. */
struct ends {
    struct tire_node of[ENDS];
};

struct part {
    struct tire_copy arcs;
    size_t first; /* pair of masses */
    size_t count;
    /* Whose masses come before and behind; with the arcs exchanged where the circle is cut. */
    uint32_t before;
    uint32_t behind;
    bool begins;
    bool ends;
};

struct halo {
    tire_kernel *kernel;
    struct part *parts;
    struct ends *ends[COPIES];
    void *memory;
    size_t memory_bytes;
};

static size_t half_of(const struct tire *tire)
{
    return (size_t)tire->model.parameters.nodes / 2;
}

/* Whole cache lines of each array; the last one may have padding behind the last mass. */
static void share(const struct tire *tire, struct part *parts)
{
    const size_t half = half_of(tire);
    const size_t lines = (half + LINE - 1) / LINE;
    uint32_t used = 0;
    for (uint32_t thread = 0; thread < tire->threads; thread++) {
        const size_t first = lines * thread / tire->threads * LINE;
        const size_t beyond = lines * (thread + 1) / tire->threads * LINE;
        parts[thread].first = first;
        parts[thread].count = (beyond < half ? beyond : half) - first;
        if (parts[thread].count > 0) {
            parts[thread].before = used; /* as long as nobody else comes between */
            parts[used].behind = thread;
            used = thread;
        }
    }
    const uint32_t last = used;
    uint32_t first = 0;
    while (parts[first].count == 0) {
        first++;
    }
    parts[first].before = last;
    parts[first].begins = true;
    parts[last].behind = first;
    parts[last].ends = true;
}

/* From one array of a part to the next: a line for the halo before, the masses, the halo and the padding behind; and
 * then so many lines that none of the eight begins where another does within a page. */
static size_t stride_lines(size_t count)
{
    const size_t needed = 1 + (count + KERNEL_PAD + LINE - 1) / LINE;
    const size_t beyond = (needed + PAGE_LINES - STAGGER_LINES) % PAGE_LINES;
    return beyond == 0 ? needed : needed + PAGE_LINES - beyond;
}

static struct tire_arc arc_at(double *first, size_t stride)
{
    return (struct tire_arc){first, first + stride, first + 2 * stride, first + 3 * stride};
}

static enum os_status create(struct tire *tire)
{
    struct halo *const own = calloc(1, sizeof *own);
    tire->own = own;
    if (own == NULL) {
        return OS_NO_MEMORY;
    }
    own->kernel = tire_kernel_here().run;
    own->parts = calloc(tire->threads, sizeof *own->parts);
    if (own->parts == NULL) {
        return OS_NO_MEMORY;
    }
    share(tire, own->parts);
    const size_t ends_bytes = tire->threads * sizeof(struct ends);
    own->memory_bytes = COPIES * ends_bytes;
    for (uint32_t thread = 0; thread < tire->threads; thread++) {
        own->memory_bytes += ARRAYS * stride_lines(own->parts[thread].count) * CACHE_LINE;
    }
    const enum os_status status = os_memory_allocate(&own->memory, own->memory_bytes);
    if (status != OS_OK) {
        return status;
    }
    own->ends[0] = own->memory;
    own->ends[1] = own->ends[0] + tire->threads;
    double *free_numbers = (double *)(void *)(own->ends[1] + tire->threads);
    for (uint32_t thread = 0; thread < tire->threads; thread++) {
        const size_t stride = stride_lines(own->parts[thread].count) * LINE;
        double *const upper = free_numbers + LINE;
        own->parts[thread].arcs = (struct tire_copy){arc_at(upper, stride), arc_at(upper + 4 * stride, stride)};
        free_numbers += ARRAYS * stride;
    }
    return OS_OK;
}

static void destroy(struct tire *tire)
{
    struct halo *const own = tire->own;
    if (own != NULL) {
        os_memory_free(own->memory, own->memory_bytes);
        free(own->parts);
        free(own);
    }
}

static struct tire_node node_at(const struct tire_arc *arc, size_t at)
{
    return (struct tire_node){arc->x[at], arc->y[at], arc->vx[at], arc->vy[at]};
}

static void put_at(const struct tire_arc *arc, ptrdiff_t at, const struct tire_node *state)
{
    arc->x[at] = state->x;
    arc->y[at] = state->y;
    arc->vx[at] = state->vx;
    arc->vy[at] = state->vy;
}

/* What the kernel reads beyond the first one behind has no effect; with the same numbers, it costs no more. */
static void fetch_ends(const struct halo *own, const struct part *part, unsigned from)
{
    const struct tire_node *const before = own->ends[from][part->before].of;
    const struct tire_node *const behind = own->ends[from][part->behind].of;
    put_at(&part->arcs.upper, -1, &before[part->begins ? LOWER_LAST : UPPER_LAST]);
    put_at(&part->arcs.lower, -1, &before[part->begins ? UPPER_LAST : LOWER_LAST]);
    for (size_t at = part->count; at < part->count + KERNEL_PAD; at++) {
        put_at(&part->arcs.upper, (ptrdiff_t)at, &behind[part->ends ? LOWER_FIRST : UPPER_FIRST]);
        put_at(&part->arcs.lower, (ptrdiff_t)at, &behind[part->ends ? UPPER_FIRST : LOWER_FIRST]);
    }
}

static void tell_ends(const struct part *part, struct ends *ends)
{
    ends->of[UPPER_FIRST] = node_at(&part->arcs.upper, 0);
    ends->of[UPPER_LAST] = node_at(&part->arcs.upper, part->count - 1);
    ends->of[LOWER_FIRST] = node_at(&part->arcs.lower, 0);
    ends->of[LOWER_LAST] = node_at(&part->arcs.lower, part->count - 1);
}

static void step(struct tire *tire, uint32_t thread, unsigned from, struct tire_stamps *stamps)
{
    const struct halo *const own = tire->own;
    const struct part *const part = &own->parts[thread];
    const bool some = part->count > 0;
    if (some) {
        fetch_ends(own, part, from);
    }
    const int64_t read_ns = stamps != NULL ? os_now_ns() : 0;
    if (some) {
        own->kernel(&tire->model, &part->arcs, &part->arcs, 0, part->count);
    }
    const int64_t integrated_ns = stamps != NULL ? os_now_ns() : 0;
    if (some) {
        tell_ends(part, &own->ends[1 - from][thread]);
    }
    if (stamps != NULL) {
        *stamps = (struct tire_stamps){read_ns, read_ns, integrated_ns, os_now_ns()};
    }
}

static int64_t nodes_of(const struct tire *tire, uint32_t thread)
{
    const struct halo *const own = tire->own;
    return 2 * (int64_t)own->parts[thread].count;
}

static uint32_t thread_of(const struct tire *tire, size_t pair)
{
    const struct halo *const own = tire->own;
    uint32_t thread = 0;
    while (pair >= own->parts[thread].first + own->parts[thread].count) {
        thread++;
    }
    return thread;
}

static const struct tire_arc *arc_of(const struct tire *tire, int64_t node, uint32_t *thread, size_t *at)
{
    const struct halo *const own = tire->own;
    const size_t half = half_of(tire);
    const bool upper = (size_t)node < half;
    const size_t pair = upper ? (size_t)node : (size_t)node - half;
    *thread = thread_of(tire, pair);
    const struct part *const part = &own->parts[*thread];
    *at = pair - part->first;
    return upper ? &part->arcs.upper : &part->arcs.lower;
}

static struct tire_node get(const struct tire *tire, unsigned copy, int64_t node)
{
    (void)copy; /* there is but one */
    uint32_t thread = 0;
    size_t at = 0;
    const struct tire_arc *const arc = arc_of(tire, node, &thread, &at);
    return node_at(arc, at);
}

static void put(struct tire *tire, unsigned copy, int64_t node, const struct tire_node *state)
{
    const struct halo *const own = tire->own;
    uint32_t thread = 0;
    size_t at = 0;
    const struct tire_arc *const arc = arc_of(tire, node, &thread, &at);
    put_at(arc, (ptrdiff_t)at, state);
    tell_ends(&own->parts[thread], &own->ends[copy][thread]);
}

void tire_halo_use(struct tire *tire, tire_kernel *kernel)
{
    struct halo *const own = tire->own;
    own->kernel = kernel;
}

const struct tire_kind tire_kind_halo = {
    .name = "halo",
    .parallel = true,
    .create = create,
    .destroy = destroy,
    .step = step,
    .nodes_of = nodes_of,
    .get = get,
    .put = put,
};
