/*
 * TIRE_HALO: an array for each coordinate of each arc (kernel.h). A thread has pairs of opposite masses, in whole cache
 * lines: its spokes end in its own part, and of others it reads one mass at each end of either arc. Nobody writes what
 * another one reads in the same step, so that no lock is needed, only the meeting between two steps.
 */
#include "tire/kinds.h"

#include <stdlib.h>

enum {
    CACHE_LINE = 64,
    LINE = CACHE_LINE / sizeof(double),
    PAGE_LINES = 64, /* addresses 4,096 bytes apart hinder each other in the first-level cache */
    STAGGER_LINES = 5,
    ARRAYS = 16,
};

struct part {
    size_t first;
    size_t last;
};

struct halo {
    struct tire_copy copies[2];
    tire_kernel *kernel;
    struct part *parts;
    void *memory;
    size_t memory_bytes;
};

static size_t half_of(const struct tire *tire)
{
    return (size_t)tire->model.parameters.nodes / 2;
}

/* Whole cache lines of each array; the last one may have padding behind the last mass. */
static struct part part_of(const struct tire *tire, uint32_t thread)
{
    const size_t half = half_of(tire);
    const size_t lines = (half + LINE - 1) / LINE;
    const size_t first = lines * thread / tire->threads;
    const size_t last = lines * (thread + 1) / tire->threads;
    return (struct part){first * LINE, last == lines ? half : last * LINE};
}

/* From the beginning of one array to that of the next: a line for the halo before, the masses, the halo and the padding
 * behind; and then so many lines that none of the sixteen begins where another does within a page. */
static size_t stride_lines(size_t half)
{
    const size_t needed = 1 + (half + KERNEL_PAD + LINE - 1) / LINE;
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
    for (uint32_t thread = 0; thread < tire->threads; thread++) {
        own->parts[thread] = part_of(tire, thread);
    }
    const size_t stride = stride_lines(half_of(tire)) * LINE;
    own->memory_bytes = ARRAYS * stride * sizeof(double);
    const enum os_status status = os_memory_allocate(&own->memory, own->memory_bytes);
    if (status == OS_OK) {
        double *const begin = (double *)own->memory + LINE;
        for (int copy = 0; copy < 2; copy++) {
            double *const upper = begin + (size_t)copy * 8 * stride;
            own->copies[copy] = (struct tire_copy){arc_at(upper, stride), arc_at(upper + 4 * stride, stride)};
        }
    }
    return status;
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

/* The mass before the first one of an arc is the last one of the other arc. */
static void refresh_before(const struct tire_arc *arc, const struct tire_arc *other, size_t half)
{
    arc->x[-1] = other->x[half - 1];
    arc->y[-1] = other->y[half - 1];
    arc->vx[-1] = other->vx[half - 1];
    arc->vy[-1] = other->vy[half - 1];
}

static void fill(double *at, double value)
{
    for (int i = 0; i < KERNEL_PAD; i++) {
        at[i] = value;
    }
}

/* The mass behind the last one of an arc is the first one of the other arc. What the kernel reads beyond has no effect;
 * with the same numbers, it costs no more than any other. */
static void refresh_behind(const struct tire_arc *arc, const struct tire_arc *other, size_t half)
{
    fill(arc->x + half, other->x[0]);
    fill(arc->y + half, other->y[0]);
    fill(arc->vx + half, other->vx[0]);
    fill(arc->vy + half, other->vy[0]);
}

static void refresh(const struct tire_copy *copy, struct part part, size_t half)
{
    if (part.first == 0) {
        refresh_before(&copy->upper, &copy->lower, half);
        refresh_before(&copy->lower, &copy->upper, half);
    }
    if (part.last == half) {
        refresh_behind(&copy->upper, &copy->lower, half);
        refresh_behind(&copy->lower, &copy->upper, half);
    }
}

static void step(struct tire *tire, uint32_t thread, unsigned from, struct tire_stamps *stamps)
{
    const struct halo *const own = tire->own;
    const struct part part = own->parts[thread];
    const bool has_masses = part.first < part.last;
    if (has_masses) {
        refresh(&own->copies[from], part, half_of(tire));
    }
    const int64_t read_ns = stamps != NULL ? os_now_ns() : 0;
    if (has_masses) {
        own->kernel(&tire->model, &own->copies[from], &own->copies[1 - from], part.first, part.last);
    }
    if (stamps != NULL) {
        const int64_t integrated_ns = os_now_ns();
        *stamps = (struct tire_stamps){read_ns, read_ns, integrated_ns, integrated_ns};
    }
}

static int64_t nodes_of(const struct tire *tire, uint32_t thread)
{
    const struct halo *const own = tire->own;
    return 2 * (int64_t)(own->parts[thread].last - own->parts[thread].first);
}

static const struct tire_arc *arc_of(const struct tire *tire, unsigned copy, int64_t node, size_t *at)
{
    const struct halo *const own = tire->own;
    const size_t half = half_of(tire);
    const bool upper = (size_t)node < half;
    *at = upper ? (size_t)node : (size_t)node - half;
    return upper ? &own->copies[copy].upper : &own->copies[copy].lower;
}

static struct tire_node get(const struct tire *tire, unsigned copy, int64_t node)
{
    size_t at = 0;
    const struct tire_arc *const arc = arc_of(tire, copy, node, &at);
    return (struct tire_node){arc->x[at], arc->y[at], arc->vx[at], arc->vy[at]};
}

static void put(struct tire *tire, unsigned copy, int64_t node, const struct tire_node *state)
{
    size_t at = 0;
    const struct tire_arc *const arc = arc_of(tire, copy, node, &at);
    arc->x[at] = state->x;
    arc->y[at] = state->y;
    arc->vx[at] = state->vx;
    arc->vy[at] = state->vy;
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
