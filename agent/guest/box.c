#include "guest/box.h"

#include "format.h"
#include "message.h"

#include <stdarg.h>
#include <string.h>

enum { MAGIC = 0x42554154, VERSION = 1, REPLY_AT = 4096, REQUEST_AT = BOX_BYTES / 2, WORD = 4 };
enum { REPLY_ROOM = REQUEST_AT - REPLY_AT, REQUEST_ROOM = BOX_BYTES - REQUEST_AT, LONGEST_FAULT = 512 };

/* As it lies at the beginning of the mailbox; the processors of the lab's guests are all little-endian. */
struct header {
    uint32_t magic;
    uint32_t version;
    uint32_t reply_bytes;
    uint32_t request_bytes;
    int64_t guest_clock_ns;
};

/* Before the payload of each event and of each command. */
struct frame {
    uint8_t kind;
    uint8_t nothing[3];
    uint32_t program;
    uint32_t payload_bytes;
};

_Static_assert(sizeof(struct header) == 24 && sizeof(struct frame) == 12, "the layout of docs/guest.md");

bool fault(const char *format, ...)
{
    char text[LONGEST_FAULT];
    va_list arguments;
    va_start(arguments, format);
    format_arguments(text, sizeof text, format, arguments);
    va_end(arguments);
    print_error("tauto-agent: %s\n", text);
    return false;
}

/* Longer than a request can be. It stays where the lab has ended without its virtual machine: the gate is open then. */
static const uint32_t unanswered = UINT32_MAX;

static size_t padded(size_t bytes)
{
    return (bytes + WORD - 1) / WORD * WORD;
}

/* ---- Events ---------------------------------------------------------------- */

size_t box_room(const struct box *box)
{
    const size_t left = REPLY_ROOM - box->reply_bytes;
    return left > sizeof(struct frame) ? (left - sizeof(struct frame)) / WORD * WORD : 0;
}

void box_add(struct box *box, enum box_event event, uint32_t program, const void *payload, size_t bytes)
{
    const struct frame frame = {.kind = (uint8_t)event, .program = program, .payload_bytes = (uint32_t)bytes};
    const size_t at = REPLY_AT + box->reply_bytes;
    os_mailbox_store(box->mailbox, at, &frame, sizeof frame);
    os_mailbox_store(box->mailbox, at + sizeof frame, payload, bytes);
    box->reply_bytes += sizeof frame + padded(bytes);
}

/* ---- Commands -------------------------------------------------------------- */

bool box_call(struct box *box)
{
    struct header header = {
        .magic = MAGIC,
        .version = VERSION,
        .reply_bytes = (uint32_t)box->reply_bytes,
        .request_bytes = unanswered,
        .guest_clock_ns = os_now_ns(),
    };
    os_mailbox_store(box->mailbox, 0, &header, sizeof header);
    if (os_mailbox_call(box->mailbox) != OS_OK) {
        return fault("tauto has gone.");
    }
    os_mailbox_load(box->mailbox, 0, &header, sizeof header);
    box->reply_bytes = 0;
    box->request_read = 0;
    box->request_bytes = header.request_bytes;
    if (box->request_bytes == unanswered) {
        return fault("tauto has gone.");
    }
    if (header.magic != MAGIC || header.version != VERSION || box->request_bytes > REQUEST_ROOM) {
        return fault("a request with a broken header: %u bytes.", header.request_bytes);
    }
    return true;
}

bool box_is_at_end(const struct box *box)
{
    return box->request_read == box->request_bytes;
}

bool box_next(struct box *box, struct box_command *command, bool *broken)
{
    struct frame frame;
    const size_t left = box->request_bytes - box->request_read;
    *broken = false;
    if (left == 0) {
        return false;
    }
    *broken = true;
    if (left < sizeof frame) {
        return fault("a request that ends within a command.");
    }
    os_mailbox_load(box->mailbox, REQUEST_AT + box->request_read, &frame, sizeof frame);
    if (frame.payload_bytes > left - sizeof frame || padded(frame.payload_bytes) > left - sizeof frame) {
        return fault("command %u says that it has %u bytes; the request has no more than %zu.", frame.kind,
                     frame.payload_bytes, left - sizeof frame);
    }
    if (frame.kind < BOX_START || frame.kind > BOX_OFF) {
        return fault("there is no command %u.", frame.kind);
    }
    *broken = false;
    *command = (struct box_command){
        .operation = (enum box_operation)frame.kind,
        .program = frame.program,
        .payload_bytes = frame.payload_bytes,
        .payload_at = REQUEST_AT + box->request_read + sizeof frame,
    };
    box->request_read += sizeof frame + padded(frame.payload_bytes);
    return true;
}

bool box_payload(const struct box *box, const struct box_command *command, struct text *payload)
{
    char *const place = text_reserve(payload, command->payload_bytes);
    if (place == NULL) {
        return fault("no memory for %zu bytes of a request.", command->payload_bytes);
    }
    os_mailbox_load(box->mailbox, command->payload_at, place, command->payload_bytes);
    payload->length += command->payload_bytes;
    payload->data[payload->length] = '\0';
    return true;
}
