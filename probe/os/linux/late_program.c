#include "os/linux/late_writing.h"

/* One tracepoint for two kinds: its argument is -1 where something ends. */
static void put_end_kind(struct writing *out, const struct late_source *source)
{
    late_put_argument(out, FIRST, 0);
    const size_t begins = out->count;
    PUT(.code = SKIP_IF_OTHER_4, .to = FIRST, .immediate = -1);
    late_put_zero(out, offsetof(struct os_late_event, id));
    late_put_kind(out, KEPT, source->ends);
    const size_t ended = out->count;
    PUT(.code = SKIP);
    late_close_skip(out, begins);
    late_put_kind(out, KEPT, source->kind);
    late_close_skip(out, ended);
}

/* ---- The parts of an event --------------------------------------------------- */

/* sched_switch says first whether it takes the CPU from a thread that would go on. From Linux 5.18 on it says the thread's
 * state, too, after or before the two threads: the state in the thread may have changed by then. */
static bool put_state(struct writing *out, const struct late_part *part)
{
    const int32_t previous = btf_argument(out->plan->btf, out->tracepoint, part->structure, part->nth);
    const uint32_t arguments = btf_arguments(out->plan->btf, out->tracepoint);
    if (previous < 1) {
        return false;
    }
    late_put_argument(out, FIRST, 0);
    PUT(.code = SKIP_IF_EQUAL, .to = FIRST, .offset = 2);
    PUT(.code = SET, .to = FIRST, .immediate = 0);
    const size_t skip = out->count;
    PUT(.code = SKIP);
    if (arguments >= 4) {
        late_put_argument(out, FIRST, previous == 1 ? 3 : 1);
    } else if (!late_put_member(out, part)) {
        return false;
    }
    late_close_skip(out, skip);
    return true;
}

/* Sixteen bytes or eight, from where SECOND or THIRD points, by a function of the kernel's that bears a wrong address. */
static void put_read(struct writing *out, size_t offset, int32_t bytes, int32_t function)
{
    PUT(.code = COPY, .to = FIRST, .from = PLACE);
    PUT(.code = ADD, .to = FIRST, .immediate = (int32_t)offset);
    PUT(.code = SET, .to = SECOND, .immediate = bytes);
    PUT(.code = CALL, .immediate = function);
}

static bool put_name(struct writing *out, const struct late_part *part, size_t offset)
{
    struct btf_field field;
    if (part->how == TEXT && part->structure == NULL) {
        late_put_argument(out, THIRD, part->nth);
        put_read(out, offset, OS_LATE_NAME_BYTES, BPF_PROBE_READ_KERNEL_TEXT);
        return true;
    }
    if (!late_put_structure(out, part, &field)) {
        return false;
    }
    if (part->how == TEXT) {
        PUT(.code = LOAD_8, .to = THIRD, .from = FIRST, .offset = (int16_t)field.offset);
        put_read(out, offset, OS_LATE_NAME_BYTES, BPF_PROBE_READ_KERNEL_TEXT);
        return true;
    }
    for (size_t at = 0; at < OS_LATE_NAME_BYTES; at += sizeof(uint64_t)) {
        PUT(.code = LOAD_8, .to = SECOND, .from = FIRST, .offset = (int16_t)(field.offset + at));
        PUT(.code = STORE_8, .to = PLACE, .from = SECOND, .offset = (int16_t)(offset + at));
    }
    return field.bytes == OS_LATE_NAME_BYTES;
}

static bool put_value(struct writing *out, const struct late_part *part, size_t offset)
{
    switch (part->how) {
    case FIXED:
        PUT(.code = SET, .to = FIRST, .immediate = part->nth);
        break;
    case VALUE:
        late_put_argument(out, FIRST, part->nth);
        break;
    case POINTED:
        late_put_argument(out, THIRD, part->nth);
        put_read(out, offset, sizeof(uint64_t), BPF_PROBE_READ_KERNEL);
        return true;
    case MEMBER:
        if (!late_put_member(out, part)) {
            return false;
        }
        break;
    case STATE:
        if (!put_state(out, part)) {
            return false;
        }
        break;
    default:
        return false;
    }
    PUT(.code = STORE_8, .to = PLACE, .from = FIRST, .offset = (int16_t)offset);
    return true;
}

/* The address 0 is none. */
static void put_nothing(struct writing *out, size_t offset)
{
    if (offset == offsetof(struct os_late_event, address)) {
        late_put_zero(out, offset);
    } else {
        late_put_untold(out, offset);
    }
}

/* A part that is not in this kernel is told as unknown where it may be, and fails the whole otherwise. */
static void put_part(struct writing *out, const struct late_part *part, size_t offset, bool with_optional)
{
    const size_t before = out->count;
    if (part->how == ZERO) {
        late_put_zero(out, offset);
    } else if (part->how == UNTOLD || (part->optional && !with_optional)) {
        put_nothing(out, offset);
    } else if (!put_value(out, part, offset)) {
        out->count = before;
        out->failed = out->failed || !part->optional;
        put_nothing(out, offset);
    }
}

static void put_name_part(struct writing *out, const struct late_part *part, bool with_optional)
{
    const size_t offset = offsetof(struct os_late_event, name);
    late_put_zero(out, offset);
    late_put_zero(out, offset + sizeof(uint64_t));
    const size_t before = out->count;
    if (part->how != ZERO && (with_optional || !part->optional) && !put_name(out, part, offset)) {
        out->count = before;
        out->failed = out->failed || !part->optional;
    }
}

size_t late_program_write(struct bpf_instruction code[LATE_INSTRUCTIONS_LIMIT], const struct late_plan *plan,
                          const struct late_source *source, uint32_t tracepoint, bool with_optional)
{
    static const struct late_part unknown = {.how = UNTOLD};
    struct writing writing = {.plan = plan, .tracepoint = tracepoint, .code = code};
    struct writing *const out = &writing;
    late_put_ring(out, source);
    if (source->of_own_threads) {
        late_put_own_threads_only(out);
    }
    PUT(.code = CALL, .immediate = BPF_KTIME_GET_NS);
    PUT(.code = COPY, .to = KEPT, .from = RESULT);
    if (source->looks_at_steal) {
        late_put_steal(out);
    }
    if (source->kind == OS_LATE_SWITCH) {
        late_put_stack_at_switch(out);
    }
    late_put_place(out);
    PUT(.code = COPY, .to = KEPT, .from = FIRST);
    put_part(out, &source->id, offsetof(struct os_late_event, id), with_optional);
    put_part(out, &source->other, offsetof(struct os_late_event, other), with_optional);
    put_part(out, source->priority.how != ZERO ? &source->priority : &unknown,
             offsetof(struct os_late_event, priority), with_optional);
    put_part(out, &source->address, offsetof(struct os_late_event, address), with_optional);
    put_name_part(out, &source->name, with_optional);
    if (source->ends != 0) {
        put_end_kind(out, source);
    } else {
        late_put_kind(out, KEPT, source->kind);
    }
    if (source->kind == OS_LATE_WAKE) {
        late_put_waiting(out);
    } else if (source->kind == OS_LATE_TIMER_BEGIN && with_optional) {
        late_put_stack_at_timer(out);
    }
    for (size_t i = 0; i < out->exit_count; i++) {
        late_close_skip(out, out->exits[i]);
    }
    PUT(.code = SET, .to = RESULT, .immediate = 0);
    PUT(.code = END);
    return out->failed ? 0 : out->count;
}
