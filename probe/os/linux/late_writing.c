#include "os/linux/late_writing.h"

#include <string.h>

void late_put(struct writing *out, struct bpf_instruction instruction)
{
    if (out->count < LATE_INSTRUCTIONS_LIMIT) {
        out->code[out->count++] = instruction;
    } else {
        out->failed = true;
    }
}

void late_put_exit_if(struct writing *out, enum bpf_code condition, uint8_t reg, int32_t immediate)
{
    out->exits[out->exit_count++] = out->count;
    PUT(.code = (uint8_t)condition, .to = reg, .immediate = immediate);
}

void late_close_skip(struct writing *out, size_t from)
{
    out->code[from].offset = (int16_t)(out->count - from - 1);
}

void late_put_constant(struct writing *out, uint8_t to, uint8_t what, int32_t constant)
{
    PUT(.code = LOAD_CONSTANT_8, .to = to, .from = what, .immediate = constant);
    PUT(0);
}

void late_put_argument(struct writing *out, uint8_t to, uint32_t argument)
{
    PUT(.code = LOAD_8, .to = to, .from = EVENT, .offset = (int16_t)(argument * sizeof(uint64_t)));
}

void late_put_ring(struct writing *out, const struct late_source *source)
{
    PUT(.code = COPY, .to = EVENT, .from = FIRST);
    if (source->cpu_argument != 0) {
        late_put_argument(out, RESULT, source->cpu_argument);
    } else {
        PUT(.code = CALL, .immediate = BPF_PROCESSOR_ID);
    }
    PUT(.code = AND, .to = RESULT, .immediate = (int32_t)out->plan->maps.slot_mask);
    PUT(.code = SHIFT_LEFT, .to = RESULT, .immediate = 2);
    late_put_constant(out, FIRST, BPF_PSEUDO_MAP_VALUE, out->plan->maps.slots);
    PUT(.code = ADD_REGISTER, .to = FIRST, .from = RESULT);
    PUT(.code = LOAD_4, .to = FIRST, .from = FIRST);
    late_put_exit_if(out, SKIP_IF_EQUAL, FIRST, 0);
    PUT(.code = ADD, .to = FIRST, .immediate = -1);
    PUT(.code = STORE_4, .to = STACK, .from = FIRST, .offset = KEY_AT);
    PUT(.code = COPY, .to = SECOND, .from = STACK);
    PUT(.code = ADD, .to = SECOND, .immediate = KEY_AT);
    late_put_constant(out, FIRST, BPF_PSEUDO_MAP_FD, out->plan->maps.rings);
    PUT(.code = CALL, .immediate = BPF_MAP_LOOKUP);
    late_put_exit_if(out, SKIP_IF_EQUAL, RESULT, 0);
    PUT(.code = COPY, .to = RING, .from = RESULT);
}

void late_put_place(struct writing *out)
{
    PUT(.code = SET, .to = FIRST, .immediate = 1);
    PUT(.code = FETCH_AND_ADD_8, .to = RING, .from = FIRST, .offset = offsetof(struct flight_ring, head), .immediate = 1);
    PUT(.code = COPY, .to = SECOND, .from = FIRST);
    PUT(.code = AND, .to = SECOND, .immediate = (int32_t)(out->plan->maps.capacity - 1));
    PUT(.code = SHIFT_LEFT, .to = SECOND, .immediate = 6);
    PUT(.code = COPY, .to = PLACE, .from = RING);
    PUT(.code = ADD_REGISTER, .to = PLACE, .from = SECOND);
    PUT(.code = ADD, .to = PLACE, .immediate = offsetof(struct flight_ring, events));
    PUT(.code = STORE_8, .to = PLACE, .from = KEPT, .offset = offsetof(struct os_late_event, time_ns));
}

void late_put_zero(struct writing *out, size_t offset)
{
    PUT(.code = STORE_CONSTANT_8, .to = PLACE, .offset = (int16_t)offset);
}

void late_put_kind(struct writing *out, uint8_t reg, int32_t kind)
{
    PUT(.code = SHIFT_LEFT, .to = reg, .immediate = LATE_KIND_BITS);
    PUT(.code = OR, .to = reg, .immediate = kind);
    PUT(.code = STORE_8, .to = PLACE, .from = reg, .offset = offsetof(struct os_late_event, kind));
}

void late_put_untold(struct writing *out, size_t offset)
{
    PUT(.code = SET, .to = FIRST, .immediate = 1);
    PUT(.code = SHIFT_LEFT, .to = FIRST, .immediate = 63);
    PUT(.code = STORE_8, .to = PLACE, .from = FIRST, .offset = (int16_t)offset);
}

/* Any of the names in "now|before". */
static bool find_member(const struct btf *btf, const struct late_part *part, struct btf_field *field)
{
    char name[32];
    for (const char *at = part->member; *at != '\0';) {
        const size_t length = strcspn(at, "|");
        if (length < sizeof name) {
            memcpy(name, at, length);
            name[length] = '\0';
            if (btf_member(btf, part->structure, name, field)) {
                return true;
            }
        }
        at += length + (at[length] == '|');
    }
    return false;
}

bool late_put_structure(struct writing *out, const struct late_part *part, struct btf_field *field)
{
    const int32_t argument = btf_argument(out->plan->btf, out->tracepoint, part->structure, part->nth);
    if (argument < 0 || !find_member(out->plan->btf, part, field) || field->offset > INT16_MAX) {
        return false;
    }
    late_put_argument(out, FIRST, (uint32_t)argument);
    return true;
}

bool late_put_member(struct writing *out, const struct late_part *part)
{
    struct btf_field field;
    if (!late_put_structure(out, part, &field) || (field.bytes != sizeof(uint32_t) && field.bytes != sizeof(uint64_t))) {
        return false;
    }
    PUT(.code = field.bytes == sizeof(uint64_t) ? LOAD_8 : LOAD_4, .to = FIRST, .from = FIRST,
        .offset = (int16_t)field.offset);
    if (field.bytes == sizeof(uint32_t) && field.is_signed) {
        PUT(.code = SHIFT_LEFT, .to = FIRST, .immediate = 32);
        PUT(.code = SHIFT_RIGHT_SIGNED, .to = FIRST, .immediate = 32);
    }
    return true;
}
