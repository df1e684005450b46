/*
 * The flight recorder of programs at the kernel's tracepoints: they write into memory that is mapped here, a ring for each
 * recorded CPU, so that reading it costs the recorded CPU nothing. It ends with the process, whichever way that ends.
 */
#include "os/linux/late_programs.h"
#include "os/posix/late_recorder.h"
#include "os/posix/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    EVENT_BYTES = sizeof(struct os_late_event),
    LEAST_CAPACITY = 1024,
    MOST_CAPACITY = 1 << 20,
    STACKS_LIMIT = 1024,
    NONE = -1,
};

struct bpf_state {
    struct late_maps maps;
    struct late_programs programs;
    const int32_t *cpus; /* by their rings */
    uint32_t cpu_count;
    _Atomic uint32_t *slots;
    size_t slots_bytes;
    void *rings;
    size_t rings_bytes;
    size_t ring_bytes; /* one with its head */
    uint64_t skipped_told;
};

static struct os_answer why_not(int error)
{
    switch (error) {
    case EPERM:
    case EACCES:
        return (struct os_answer){
            OS_DENIED, "the kernel does not let this user put programs at its tracepoints. Run as root, or give tauto-probe "
                       "the capabilities CAP_BPF and CAP_PERFMON. Where root is refused, a container (seccomp) or a locked "
                       "down kernel (/sys/kernel/security/lockdown) is in the way"};
    case ENOMEM:
        return (struct os_answer){OS_ABSENT, "there is not enough memory for the rings"};
    default:
        return (struct os_answer){
            OS_ABSENT, "this kernel can't run such programs at its tracepoints. It needs Linux 5.12 or later with "
                       "CONFIG_DEBUG_INFO_BTF and CONFIG_BPF_EVENTS, on a 64-bit system"};
    }
}

static struct flight_ring *ring_of(const struct bpf_state *state, uint32_t index)
{
    return (struct flight_ring *)(void *)((char *)state->rings + index * state->ring_bytes);
}

static size_t to_pages(size_t bytes)
{
    const size_t page = getauxval(AT_PAGESZ);
    return (bytes + page - 1) / page * page;
}

static uint32_t power_of_two(uint64_t least)
{
    uint32_t power = 1;
    while (power < least) {
        power *= 2;
    }
    return power;
}

static uint32_t capacity_for(const struct os_late_wish *wish)
{
    const uint32_t wanted = wish->ring_bytes / EVENT_BYTES;
    return power_of_two(wanted < LEAST_CAPACITY ? LEAST_CAPACITY : wanted > MOST_CAPACITY ? MOST_CAPACITY : wanted);
}

static void *map_memory(int map, size_t bytes)
{
    void *const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static bool make_maps(struct bpf_state *state, const struct os_late_wish *wish)
{
    const uint32_t slots = power_of_two((uint64_t)os_cpu_limit());
    state->maps.slot_mask = slots - 1;
    state->maps.capacity = capacity_for(wish);
    state->slots_bytes = to_pages(slots * sizeof(uint32_t));
    state->maps.slots = bpf_create_array(1, slots * (uint32_t)sizeof(uint32_t));
    if (state->maps.slots < 0) {
        return false;
    }
    do { /* some kernels allow a value of a map 4 MiB */
        state->ring_bytes = sizeof(struct flight_ring) + (size_t)state->maps.capacity * EVENT_BYTES;
        state->maps.rings = bpf_create_array(wish->cpu_count, (uint32_t)state->ring_bytes);
    } while (state->maps.rings < 0 && (errno == E2BIG || errno == ENOMEM) && (state->maps.capacity /= 2) >= LEAST_CAPACITY);
    if (state->maps.rings < 0) {
        return false;
    }
    state->rings_bytes = to_pages(state->ring_bytes * wish->cpu_count);
    state->maps.stacks = bpf_create_stacks(STACKS_LIMIT, OS_LATE_STACK_DEPTH);
    state->slots = map_memory(state->maps.slots, state->slots_bytes);
    state->rings = map_memory(state->maps.rings, state->rings_bytes);
    for (uint32_t i = 0; state->rings != NULL && i < wish->cpu_count; i++) {
        ring_of(state, i)->steal_ns = UINT64_MAX;
        ring_of(state, i)->stacks_from_ns = INT64_MAX;
    }
    return state->slots != NULL && state->rings != NULL;
}

static void set_slots(struct os_late_trace *trace, bool recording)
{
    const struct bpf_state *const state = trace->state;
    for (uint32_t i = 0; i < state->cpu_count; i++) {
        atomic_store_explicit(&state->slots[state->cpus[i]], recording ? i + 1 : 0, memory_order_relaxed);
    }
}

/* A program that is only told to write nothing costs, too: it is called at every event. */
static void bpf_pause(struct os_late_trace *trace)
{
    struct bpf_state *const state = trace->state;
    set_slots(trace, false);
    late_programs_unlink(&state->programs);
}

static void bpf_resume(struct os_late_trace *trace)
{
    struct bpf_state *const state = trace->state;
    late_programs_link(&state->programs, trace->missing);
    set_slots(trace, true);
}

static void bpf_close(struct os_late_trace *trace)
{
    struct bpf_state *const state = trace->state;
    const int maps[] = {state->maps.slots, state->maps.rings, state->maps.stacks};
    late_programs_detach(&state->programs);
    if (state->slots != NULL) {
        munmap(state->slots, state->slots_bytes);
    }
    if (state->rings != NULL) {
        munmap(state->rings, state->rings_bytes);
    }
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        if (maps[i] >= 0) {
            close(maps[i]);
        }
    }
    free(state);
    trace->state = NULL;
}

static struct os_answer attach(struct os_late_trace *trace, const struct os_late_wish *wish)
{
    struct bpf_state *const state = trace->state;
    struct btf *const btf = btf_open();
    if (btf == NULL) {
        return why_not(errno == EACCES ? EPERM : errno == ENOMEM ? ENOMEM : ENOENT);
    }
    const bool is_attached =
        make_maps(state, wish) && late_programs_attach(&state->programs, &state->maps, btf, trace->missing);
    const int error = errno;
    btf_close(btf);
    return is_attached ? (struct os_answer){OS_PRESENT, ""} : why_not(error);
}

static struct os_answer bpf_open(struct os_late_trace *trace, const struct os_late_wish *wish)
{
    if (sizeof(void *) != sizeof(uint64_t)) {
        return why_not(ENOENT);
    }
    struct bpf_state *const state = calloc(1, sizeof *state + wish->cpu_count * sizeof(int32_t));
    if (state == NULL) {
        return why_not(ENOMEM);
    }
    int32_t *const cpus = (int32_t *)(state + 1);
    memcpy(cpus, wish->cpus, wish->cpu_count * sizeof(int32_t));
    state->cpus = cpus;
    state->cpu_count = wish->cpu_count;
    state->maps.slots = NONE;
    state->maps.rings = NONE;
    state->maps.stacks = NONE;
    trace->state = state;
    const struct os_answer answer = attach(trace, wish);
    if (answer.availability != OS_PRESENT) {
        bpf_close(trace);
        return answer;
    }
    trace->ring_bytes = (size_t)state->maps.capacity * EVENT_BYTES;
    bpf_resume(trace);
    return answer;
}

/* ---- Reading ------------------------------------------------------------------- */

enum seen { WHOLE, OVERWRITTEN, BEGUN };

/* Event `number` of the ring. The kernel goes on writing meanwhile: whether it came round to this place is seen afterwards. */
static enum seen read_event(const struct bpf_state *state, const struct flight_ring *ring, uint64_t number,
                            struct os_late_event *event)
{
    char name[OS_LATE_NAME_BYTES];
    *event = ring->events[number & (state->maps.capacity - 1)];
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&ring->head, memory_order_relaxed) - number > state->maps.capacity) {
        return OVERWRITTEN;
    }
    if ((uint64_t)event->kind >> LATE_KIND_BITS != (number & UINT32_MAX)) {
        return BEGUN;
    }
    event->kind &= UINT32_MAX;
    memcpy(name, event->name, sizeof name);
    late_name(event->name, name, sizeof name);
    return WHOLE;
}

struct span {
    uint64_t first; /* number of the last switch before it, or the oldest event that is left */
    uint64_t end;
    bool has_before; /* the first is that switch */
    bool is_whole;   /* the ring reaches further back than it */
};

/* Back to the last switch before `from_ns`: no interrupt comes in the middle of a switch, so what has a lower number is
 * earlier. */
static struct span find_span(const struct bpf_state *state, const struct flight_ring *ring, int64_t from_ns)
{
    const uint64_t end = atomic_load_explicit(&ring->head, memory_order_acquire);
    const uint64_t oldest = end > state->maps.capacity ? end - state->maps.capacity : 0;
    struct span span = {.first = end, .end = end};
    while (span.first > oldest && !span.has_before) {
        struct os_late_event event;
        const enum seen seen = read_event(state, ring, span.first - 1, &event);
        if (seen == OVERWRITTEN) {
            break;
        }
        span.first--;
        const bool is_earlier = seen == WHOLE && event.time_ns < from_ns;
        span.is_whole = span.is_whole || is_earlier;
        span.has_before = is_earlier && event.kind == OS_LATE_SWITCH;
    }
    span.is_whole = span.is_whole || span.first == 0;
    return span;
}

/* Where an interrupt came in the middle of an event, that event has a higher number than the interrupt's, and an earlier
 * time. */
static void insert_by_time(struct os_late_event *events, size_t count, const struct os_late_event *event)
{
    while (count > 0 && events[count - 1].time_ns > event->time_ns) {
        events[count] = events[count - 1];
        count--;
    }
    events[count] = *event;
}

struct copying {
    struct os_late_event *events;
    size_t limit;
    struct os_late_copied copied;
    struct late_going going; /* before the first of them */
    int64_t thread;          /* that has the CPU at last; -1: there was no switch */
    bool has_begun;
};

static void add(struct copying *to, const struct os_late_event *event)
{
    if (to->copied.count < to->limit) {
        insert_by_time(to->events, to->copied.count, event);
        to->copied.count++;
    } else {
        to->copied.left_out++;
    }
}

static void copy_span(struct bpf_state *state, const struct flight_ring *ring, const struct span *span, int64_t from_ns,
                      int64_t until_ns, struct copying *to)
{
    for (uint64_t number = span->first; number < span->end; number++) {
        struct os_late_event event;
        const enum seen seen = read_event(state, ring, number, &event);
        to->copied.lost += seen == OVERWRITTEN;
        if (seen != WHOLE || event.time_ns > until_ns) {
            continue;
        }
        if (number == span->first && span->has_before) {
            add(to, &event);
        } else if (event.time_ns < from_ns) {
            late_going_see(&to->going, &event);
        } else {
            for (size_t i = 0; i < to->going.count && !to->has_begun; i++) {
                add(to, &to->going.events[i]);
            }
            to->has_begun = true;
            to->thread = event.kind == OS_LATE_SWITCH ? event.id : to->thread;
            add(to, &event);
        }
    }
}

/* The thread of a cycle may have lost the CPU long before others switched: how it did tells whether it slept or was stopped. */
static void add_leaving(struct bpf_state *state, const struct flight_ring *ring, const struct span *span, struct copying *to)
{
    const struct os_late_event *const before = &to->events[0];
    const uint64_t oldest = span->end > state->maps.capacity ? span->end - state->maps.capacity : 0;
    if (!span->has_before || to->copied.count == 0 || to->thread <= 0 || before->other == to->thread ||
        before->id == to->thread) {
        return;
    }
    for (uint64_t number = span->first; number > oldest; number--) {
        struct os_late_event event;
        const enum seen seen = read_event(state, ring, number - 1, &event);
        if (seen == OVERWRITTEN) {
            return;
        }
        if (seen == WHOLE && event.kind == OS_LATE_SWITCH && (event.other == to->thread || event.id == to->thread)) {
            const bool is_full = to->copied.count == to->limit;
            to->copied.count -= is_full;
            to->copied.left_out += is_full;
            add(to, &event);
            return;
        }
    }
}

static struct os_late_copied bpf_copy(struct os_late_trace *trace, int32_t cpu, int64_t from_ns, int64_t until_ns,
                                      struct os_late_event *events, size_t limit)
{
    struct bpf_state *const state = trace->state;
    struct copying to = {.events = events, .limit = limit, .thread = -1};
    uint32_t index = 0;
    while (index < state->cpu_count && state->cpus[index] != cpu) {
        index++;
    }
    if (index == state->cpu_count) {
        return to.copied;
    }
    const struct flight_ring *const ring = ring_of(state, index);
    const struct span span = find_span(state, ring, from_ns);
    to.copied.lost = span.is_whole ? 0 : 1;
    copy_span(state, ring, &span, from_ns, until_ns, &to);
    add_leaving(state, ring, &span, &to);
    const uint64_t skipped = late_programs_skipped(&state->programs);
    to.copied.lost += skipped - state->skipped_told;
    state->skipped_told = skipped;
    return to.copied;
}

static void bpf_take_stacks(struct os_late_trace *trace, int64_t from_ns)
{
    const struct bpf_state *const state = trace->state;
    for (uint32_t i = 0; i < state->cpu_count; i++) {
        atomic_store_explicit(&ring_of(state, i)->stacks_from_ns, from_ns, memory_order_relaxed);
    }
}

static size_t bpf_stack(struct os_late_trace *trace, int64_t number, uint64_t addresses[OS_LATE_STACK_DEPTH])
{
    const struct bpf_state *const state = trace->state;
    size_t depth = 0;
    memset(addresses, 0, OS_LATE_STACK_DEPTH * sizeof addresses[0]);
    if (number >= 0 && number < STACKS_LIMIT && bpf_look_up(state->maps.stacks, (uint32_t)number, addresses)) {
        while (depth < OS_LATE_STACK_DEPTH && addresses[depth] != 0) {
            depth++;
        }
    }
    return depth;
}

const struct late_recorder late_recorder_bpf = {
    .name = "bpf",
    .open = bpf_open,
    .close = bpf_close,
    .pause = bpf_pause,
    .resume = bpf_resume,
    .copy = bpf_copy,
    .take_stacks = bpf_take_stacks,
    .stack = bpf_stack,
};
