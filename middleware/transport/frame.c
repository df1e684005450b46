/* See frame.h. Headers are copied out and in, since a buffer may lie anywhere. */
#include "transport/frame.h"

#include <assert.h>
#include <string.h>

enum {
    MAGIC = 0x54437562, /* "TCub" */
    FOREIGN_MAGIC = 0x62754354,
    SCALAR_BYTES = 16,
    ALL_FLAGS = FRAME_ONE_WAY | FRAME_GREETING | FRAME_ANSWER,
};

struct header {
    uint32_t magic;
    uint32_t bytes;
    uint64_t sequence;
    uint16_t kind;
    uint16_t flags;
    uint32_t length;
    union {
        uint8_t octet;
        int16_t short_integer;
        int32_t long_integer;
        double real;
        struct {
            int32_t l;
            int16_t s;
            uint8_t o;
        } many;
        struct {
            int64_t arrived_ns;
            uint8_t octet;
        } timed;
        uint8_t bytes[SCALAR_BYTES];
    } scalar;
};
static_assert(sizeof(struct header) == FRAME_HEADER_BYTES, "frame.h says where everything is");
static_assert(FRAME_HEADER_BYTES % FRAME_ALIGNMENT == 0, "elements are aligned");

uint32_t frame_bytes(enum value_kind kind, uint32_t length)
{
    const uint32_t elements = FRAME_HEADER_BYTES + length * value_element_bytes(kind);
    return (elements + FRAME_ALIGNMENT - 1) / FRAME_ALIGNMENT * FRAME_ALIGNMENT;
}

static void scalar_write(struct header *header, const struct value *value)
{
    memset(&header->scalar, 0, sizeof header->scalar);
    switch (value->kind) {
    case VALUE_OCTET:
        header->scalar.octet = value->scalar.octet;
        break;
    case VALUE_SHORT:
        header->scalar.short_integer = value->scalar.short_integer;
        break;
    case VALUE_LONG:
        header->scalar.long_integer = value->scalar.long_integer;
        break;
    case VALUE_DOUBLE:
        header->scalar.real = value->scalar.real;
        break;
    case VALUE_STRUCT:
        header->scalar.many.o = value->scalar.many.o;
        header->scalar.many.l = value->scalar.many.l;
        header->scalar.many.s = value->scalar.many.s;
        break;
    case VALUE_TIMED:
        header->scalar.timed.octet = value->scalar.octet;
        header->scalar.timed.arrived_ns = value->arrived_ns;
        break;
    default: /* nothing, or elements */
        break;
    }
}

static void scalar_read(const struct header *header, struct value *value)
{
    switch (value->kind) {
    case VALUE_OCTET:
        value->scalar.octet = header->scalar.octet;
        break;
    case VALUE_SHORT:
        value->scalar.short_integer = header->scalar.short_integer;
        break;
    case VALUE_LONG:
        value->scalar.long_integer = header->scalar.long_integer;
        break;
    case VALUE_DOUBLE:
        value->scalar.real = header->scalar.real;
        break;
    case VALUE_STRUCT:
        value->scalar.many.o = header->scalar.many.o;
        value->scalar.many.l = header->scalar.many.l;
        value->scalar.many.s = header->scalar.many.s;
        break;
    case VALUE_TIMED:
        value->scalar.octet = header->scalar.timed.octet;
        value->arrived_ns = header->scalar.timed.arrived_ns;
        break;
    default:
        break;
    }
}

void frame_write(void *buffer, const struct value *value)
{
    struct header header = {.magic = MAGIC,
                            .bytes = frame_bytes(value->kind, value->length),
                            .kind = (uint16_t)value->kind,
                            .length = value->length};
    scalar_write(&header, value);
    memcpy(buffer, &header, sizeof header);

    const size_t elements = (size_t)value->length * value_element_bytes(value->kind);
    uint8_t *const behind = (uint8_t *)buffer + sizeof header;
    if (elements > 0) {
        memcpy(behind, value->elements, elements);
    }
    memset(behind + elements, 0, header.bytes - sizeof header - elements);
}

void frame_stamp(void *buffer, uint16_t flags, uint64_t sequence)
{
    memcpy((uint8_t *)buffer + offsetof(struct header, flags), &flags, sizeof flags);
    memcpy((uint8_t *)buffer + offsetof(struct header, sequence), &sequence, sizeof sequence);
}

void frame_become_answer(void *buffer, const struct frame *frame)
{
    struct header header;
    memcpy(&header, buffer, sizeof header);
    header.flags = (uint16_t)(frame->flags | FRAME_ANSWER);
    scalar_write(&header, &frame->value);
    memcpy(buffer, &header, sizeof header);
}

static enum frame_verdict judge(const struct header *header)
{
    if (header->magic == FOREIGN_MAGIC) {
        return FRAME_FOREIGN;
    }
    if (header->magic != MAGIC || header->kind >= VALUE_KINDS || (header->flags & ~ALL_FLAGS) != 0 ||
        header->length > VALUE_LENGTH_LIMIT) {
        return FRAME_MALFORMED;
    }
    const enum value_kind kind = (enum value_kind)header->kind;
    if ((header->length > 0 && !value_is_sequence(kind)) || header->bytes != frame_bytes(kind, header->length)) {
        return FRAME_MALFORMED;
    }
    return FRAME_GOOD;
}

enum frame_verdict frame_begins(const void *buffer, uint32_t *bytes)
{
    struct header header;
    memcpy(&header, buffer, sizeof header);
    *bytes = header.bytes;
    return judge(&header);
}

enum frame_verdict frame_read(void *buffer, size_t bytes, struct frame *frame)
{
    if (bytes < FRAME_HEADER_BYTES) {
        return FRAME_MALFORMED;
    }
    struct header header;
    memcpy(&header, buffer, sizeof header);
    const enum frame_verdict verdict = judge(&header);
    if (verdict != FRAME_GOOD || bytes != header.bytes) {
        return verdict == FRAME_GOOD ? FRAME_MALFORMED : verdict;
    }
    *frame = (struct frame){.value = {.kind = (enum value_kind)header.kind, .length = header.length},
                            .sequence = header.sequence,
                            .bytes = header.bytes,
                            .flags = header.flags};
    if (value_is_sequence(frame->value.kind)) {
        frame->value.elements = (uint8_t *)buffer + FRAME_HEADER_BYTES;
    }
    scalar_read(&header, &frame->value);
    return FRAME_GOOD;
}

bool frame_refuse_foreign(const void *received, void *refusal)
{
    struct header header;
    memcpy(&header, received, sizeof header);
    const uint16_t flags = (uint16_t)(header.flags >> 8 | header.flags << 8);
    const struct value nothing = {.kind = VALUE_VOID};
    frame_write(refusal, &nothing);
    frame_stamp(refusal, FRAME_GREETING | FRAME_ANSWER, 0);
    return (flags & FRAME_ANSWER) == 0;
}

bool frame_is_aligned(const struct frame *frame)
{
    const uint32_t element_bytes = value_element_bytes(frame->value.kind);
    return element_bytes == 0 || (uintptr_t)frame->value.elements % element_bytes == 0;
}
