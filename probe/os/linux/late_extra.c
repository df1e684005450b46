/* What programs tell besides their own event: what the hypervisor took, and stacks of those who may have held a thread up. */
#include "os/linux/late_writing.h"

#include <string.h>

/* A stack takes microseconds, so only what is late already is asked for one: as late as the ring says. A switch takes
 * longer than a handler even where nobody is in its way. */
enum { LATE_SWITCH_NS = 20000, STACKS_APART_NS = 100000, ORDINARY_PRIORITY = 100 };
enum { OWN_FRAMES = 2 }; /* the program's, and the kernel's that runs it: no part of the stack */

void late_put_own_threads_only(struct writing *out)
{
    enum { WORD_BITS = 64, BYTE_BITS = 8 };
    const char own[] = OS_LATE_OWN_THREADS;
    const uint8_t beyond = WORD_BITS - (sizeof own - 1) * BYTE_BITS;
    uint64_t wanted = 0;
    _Static_assert(sizeof own - 1 < sizeof wanted, "it is compared at once");
    memcpy(&wanted, own, sizeof own - 1);
    PUT(.code = COPY, .to = FIRST, .from = STACK);
    PUT(.code = ADD, .to = FIRST, .immediate = NAME_AT);
    PUT(.code = SET, .to = SECOND, .immediate = OS_LATE_NAME_BYTES);
    PUT(.code = CALL, .immediate = BPF_CURRENT_NAME);
    PUT(.code = LOAD_8, .to = FIRST, .from = STACK, .offset = NAME_AT);
    PUT(.code = SHIFT_LEFT, .to = FIRST, .immediate = beyond);
    late_put_constant(out, SECOND, 0, (int32_t)(uint32_t)(wanted << beyond));
    out->code[out->count - 1].immediate = (int32_t)(uint32_t)(wanted << beyond >> 32);
    PUT(.code = SUBTRACT_REGISTER, .to = FIRST, .from = SECOND);
    late_put_exit_if(out, SKIP_IF_OTHER, FIRST, 0);
}

/* THIRD = the hypervisor's count for this CPU. False where this event does not lead to it. */
static bool put_count(struct writing *out)
{
    static const struct late_part queue = {MEMBER, 1, false, "task_struct", "se.cfs_rq"};
    const struct late_steal *const steal = &out->plan->steal;
    struct btf_field field;
    if (steal->variable != 0) {
        late_put_constant(out, FIRST, BPF_PSEUDO_BTF_ID, (int32_t)steal->variable);
        PUT(.code = CALL, .immediate = BPF_THIS_CPU_POINTER);
        PUT(.code = LOAD_8, .to = THIRD, .from = RESULT, .offset = (int16_t)steal->offset);
        return true;
    }
    struct btf_field back;
    if (!steal->is_told || !btf_member(out->plan->btf, "cfs_rq", "rq", &back) || !late_put_structure(out, &queue, &field)) {
        return false;
    }
    PUT(.code = LOAD_8, .to = FIRST, .from = FIRST, .offset = (int16_t)field.offset);
    PUT(.code = LOAD_8, .to = FIRST, .from = FIRST, .offset = (int16_t)back.offset);
    PUT(.code = LOAD_8, .to = THIRD, .from = FIRST, .offset = (int16_t)steal->offset);
    return true;
}

/* An event of its own: its id is in THIRD, `other` in FOURTH. */
static void put_extra(struct writing *out, enum os_late_kind kind)
{
    late_put_place(out);
    PUT(.code = STORE_8, .to = PLACE, .from = THIRD, .offset = offsetof(struct os_late_event, id));
    PUT(.code = STORE_8, .to = PLACE, .from = FOURTH, .offset = offsetof(struct os_late_event, other));
    PUT(.code = COPY, .to = THIRD, .from = FIRST);
    late_put_untold(out, offsetof(struct os_late_event, priority));
    late_put_zero(out, offsetof(struct os_late_event, address));
    late_put_zero(out, offsetof(struct os_late_event, name));
    late_put_zero(out, offsetof(struct os_late_event, name) + sizeof(uint64_t));
    late_put_kind(out, THIRD, (int32_t)kind);
}

void late_put_steal(struct writing *out)
{
    if (!put_count(out)) {
        return;
    }
    PUT(.code = LOAD_8, .to = SECOND, .from = RING, .offset = offsetof(struct flight_ring, steal_ns));
    const size_t unchanged = out->count;
    PUT(.code = SKIP_IF_SAME, .to = THIRD, .from = SECOND);
    PUT(.code = STORE_8, .to = RING, .from = THIRD, .offset = offsetof(struct flight_ring, steal_ns));
    const size_t unknown = out->count;
    PUT(.code = SKIP_IF_EQUAL, .to = SECOND, .immediate = -1);
    PUT(.code = COPY, .to = FOURTH, .from = THIRD);
    PUT(.code = SUBTRACT_REGISTER, .to = FOURTH, .from = SECOND);
    put_extra(out, OS_LATE_STEAL);
    late_close_skip(out, unchanged);
    late_close_skip(out, unknown);
}

/* The stack of who has the CPU, unless it idles; `now` in KEPT. */
static void put_stack(struct writing *out)
{
    PUT(.code = CALL, .immediate = BPF_CURRENT_THREAD);
    PUT(.code = SHIFT_LEFT, .to = RESULT, .immediate = 32); /* the upper half is its process */
    const size_t idle = out->count;
    PUT(.code = SKIP_IF_EQUAL, .to = RESULT);
    PUT(.code = COPY, .to = FIRST, .from = EVENT);
    late_put_constant(out, SECOND, BPF_PSEUDO_MAP_FD, out->plan->maps.stacks);
    PUT(.code = SET, .to = THIRD, .immediate = OWN_FRAMES);
    PUT(.code = CALL, .immediate = BPF_STACK_NUMBER);
    const size_t failed = out->count;
    PUT(.code = SKIP_IF_LESS, .to = RESULT);
    PUT(.code = COPY, .to = THIRD, .from = RESULT);
    PUT(.code = SET, .to = FOURTH);
    put_extra(out, OS_LATE_STACK);
    late_close_skip(out, failed);
    late_close_skip(out, idle);
}

/* A real-time thread is woken: it waits from now on, if none did before. The event is told, and still in PLACE. */
void late_put_waiting(struct writing *out)
{
    PUT(.code = LOAD_8, .to = FIRST, .from = PLACE, .offset = offsetof(struct os_late_event, priority));
    const size_t ordinary = out->count;
    PUT(.code = SKIP_IF_AT_LEAST, .to = FIRST, .immediate = ORDINARY_PRIORITY);
    PUT(.code = LOAD_8, .to = SECOND, .from = RING, .offset = offsetof(struct flight_ring, waiting_ns));
    const size_t waits = out->count;
    PUT(.code = SKIP_IF_OTHER, .to = SECOND);
    PUT(.code = LOAD_8, .to = FIRST, .from = PLACE, .offset = offsetof(struct os_late_event, time_ns));
    PUT(.code = STORE_8, .to = RING, .from = FIRST, .offset = offsetof(struct flight_ring, waiting_ns));
    late_close_skip(out, waits);
    late_close_skip(out, ordinary);
}

/* Who gives the CPU away after a real-time thread has waited for it: where, shows what did not let it go. Told right before
 * the switch, since it is of the previous thread. */
void late_put_stack_at_switch(struct writing *out)
{
    static const struct late_part priority = {MEMBER, 1, false, "task_struct", "prio"};
    if (out->plan->maps.stacks < 0 || !late_put_member(out, &priority)) {
        return;
    }
    const size_t ordinary = out->count;
    PUT(.code = SKIP_IF_AT_LEAST, .to = FIRST, .immediate = ORDINARY_PRIORITY);
    PUT(.code = LOAD_8, .to = SECOND, .from = RING, .offset = offsetof(struct flight_ring, waiting_ns));
    PUT(.code = STORE_CONSTANT_8, .to = RING, .offset = offsetof(struct flight_ring, waiting_ns));
    const size_t nobody = out->count;
    PUT(.code = SKIP_IF_EQUAL, .to = SECOND);
    PUT(.code = COPY, .to = FIRST, .from = KEPT);
    PUT(.code = SUBTRACT_REGISTER, .to = FIRST, .from = SECOND);
    PUT(.code = LOAD_8, .to = SECOND, .from = RING, .offset = offsetof(struct flight_ring, stacks_from_ns));
    const size_t soon = out->count;
    PUT(.code = SKIP_IF_BELOW, .to = FIRST, .immediate = LATE_SWITCH_NS);
    const size_t no_matter = out->count;
    PUT(.code = SKIP_IF_LESS_THAN, .to = FIRST, .from = SECOND);
    PUT(.code = ADD, .to = KEPT, .immediate = -1);
    put_stack(out);
    PUT(.code = ADD, .to = KEPT, .immediate = 1);
    late_close_skip(out, no_matter);
    late_close_skip(out, soon);
    late_close_skip(out, nobody);
    late_close_skip(out, ordinary);
}

/* Who was interrupted by a handler that comes late: interrupts were off. The event is told, and still in PLACE. One interrupt
 * may be that of many timers. */
void late_put_stack_at_timer(struct writing *out)
{
    static const struct late_part expiry = {MEMBER, 0, false, "hrtimer", "node.expires"};
    const size_t before = out->count;
    if (out->plan->maps.stacks < 0 || !late_put_member(out, &expiry)) {
        out->count = before;
        return;
    }
    PUT(.code = LOAD_8, .to = SECOND, .from = PLACE, .offset = offsetof(struct os_late_event, id));
    PUT(.code = SUBTRACT_REGISTER, .to = SECOND, .from = FIRST);
    PUT(.code = LOAD_8, .to = FIRST, .from = RING, .offset = offsetof(struct flight_ring, stacks_from_ns));
    const size_t in_time = out->count;
    PUT(.code = SKIP_IF_LESS_THAN, .to = SECOND, .from = FIRST);
    PUT(.code = LOAD_8, .to = KEPT, .from = PLACE, .offset = offsetof(struct os_late_event, time_ns));
    PUT(.code = LOAD_8, .to = FIRST, .from = RING, .offset = offsetof(struct flight_ring, stacked_ns));
    PUT(.code = ADD, .to = FIRST, .immediate = STACKS_APART_NS);
    const size_t just_now = out->count;
    PUT(.code = SKIP_IF_GREATER, .to = FIRST, .from = KEPT);
    PUT(.code = STORE_8, .to = RING, .from = KEPT, .offset = offsetof(struct flight_ring, stacked_ns));
    put_stack(out);
    late_close_skip(out, just_now);
    late_close_skip(out, in_time);
}
