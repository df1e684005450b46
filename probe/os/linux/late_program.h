/*
 * The programs of the flight recorder: one at each tracepoint that tells of something which may hold a thread up. In C each
 * would be
 *
 *     slot = slots[cpu]; if (slot == 0) return;
 *     ring = rings[slot - 1]; time = now(); at = ring->head++ % capacity;
 *     event = &ring->events[at]; event->time_ns = time; … ; event->kind = at << 32 | kind;
 *
 * The kind comes last, with the lower half of the event's number above it: so a reader sees whether an event is whole.
 */
#ifndef TAUTO_LINUX_LATE_PROGRAM_H
#define TAUTO_LINUX_LATE_PROGRAM_H

#include "os/late_trace.h"
#include "os/linux/bpf.h"
#include "os/linux/btf.h"

#include <stdatomic.h>

struct flight_ring {
    _Atomic uint64_t head; /* number of the next event */
    uint64_t steal_ns; /* UINT64_MAX: not looked at yet */
    uint64_t waiting_ns; /* since when a real-time thread waits for this CPU; 0: none does */
    uint64_t stacked_ns; /* when a timer's stack was last taken */
    _Atomic int64_t stacks_from_ns; /* no stack of what is earlier */
    uint64_t unused[3];
    struct os_late_event events[];
};
_Static_assert(sizeof(struct flight_ring) == sizeof(struct os_late_event), "events have a cache line each");

enum { LATE_KIND_BITS = 32 };

struct late_maps {
    int slots;          /* of each CPU as uint32_t, 0: not recorded, else the number of its ring, from 1 */
    uint32_t slot_mask; /* a power of two, less 1 */
    int rings;
    uint32_t capacity; /* events, a power of two */
    int stacks;        /* -1: none are taken */
};

/* ---- What a program tells --------------------------------------------------- */

enum late_how {
    ZERO,
    UNTOLD,  /* INT64_MIN */
    FIXED,   /* `nth` itself */
    VALUE,   /* argument `nth` */
    POINTED, /* the eight bytes where argument `nth` points */
    MEMBER,  /* of the `nth` argument that points to such a structure */
    TEXT,    /* the text where that member points; without a structure, where argument `nth` points */
    LETTERS, /* the sixteen characters in that member */
    STATE,   /* that member of the thread that loses its CPU, 0 where it would go on */
};

struct late_part {
    uint8_t how;
    uint8_t nth;
    bool optional; /* INT64_MIN, or no name, where the kernel does not have it */
    const char *structure;
    const char *member; /* "now|before": the name that this kernel has */
};

struct late_source {
    const char *tracepoint;
    uint8_t kind;
    uint8_t ends;         /* not 0: the kind if argument 0 is -1 */
    uint8_t cpu_argument; /* not 0: it is about the CPU of this argument, not the one that it comes on */
    bool of_own_threads;  /* OS_LATE_OWN_THREADS */
    bool looks_at_steal;  /* the kernel runs again, so the hypervisor may have been at work */
    struct late_part id, other, priority, address, name;
};

/* Where the hypervisor's count of what it took from a CPU lies: `offset` bytes into a variable that each CPU has, or into
 * the run queue of the CPU that the thread of a switch is on, which is brought up to date just before. */
struct late_steal {
    bool is_told;
    uint32_t variable; /* 0: in the run queue */
    uint32_t offset;
};

struct late_plan {
    const struct btf *btf;
    struct late_maps maps;
    struct late_steal steal;
};

enum { LATE_INSTRUCTIONS_LIMIT = 256 };

/* Writes the program of a tracepoint whose type is `tracepoint`. Returns how many instructions it has; 0: the kernel lacks
 * what must be there. */
size_t late_program_write(struct bpf_instruction code[LATE_INSTRUCTIONS_LIMIT], const struct late_plan *plan,
                          const struct late_source *source, uint32_t tracepoint, bool with_optional);

#endif
