/*
 * What the transports send that have no types of their own (tcp, udp, unix, zeromq): one frame is one message, request
 * or answer. A fixed header, then the elements of a sequence, then padding, so that frames that follow each other in
 * memory stay aligned, and elements can be cubed where they arrived.
 *
 *   magic  bytes  sequence  kind  flags  length  scalar       elements  padding
 *   4      4      8         2     2      4       16           0 …       0 … 7
 *
 * In the machine's byte order, as nothing is converted between machines that agree. The magic tells one that does not.
 * Whatever comes from outside is validated here, and nowhere else.
 */
#ifndef TAUTO_FRAME_H
#define TAUTO_FRAME_H

#include "value.h"

#include <stddef.h>

enum {
    FRAME_HEADER_BYTES = 40,
    FRAME_ALIGNMENT = 8,
    FRAME_MOST_BYTES = FRAME_HEADER_BYTES + 4 * VALUE_LENGTH_LIMIT,
};

enum frame_flags {
    FRAME_REQUEST = 0,
    FRAME_ONE_WAY = 1,  /* a request that nobody answers */
    FRAME_GREETING = 2, /* is somebody there? Answered, but never counted: it is no call */
    FRAME_ANSWER = 4,
};

struct frame {
    struct value value; /* its elements are in the frame's bytes */
    uint64_t sequence;
    uint32_t bytes; /* all of it */
    uint16_t flags;
};

enum frame_verdict {
    FRAME_GOOD,
    FRAME_MALFORMED,
    FRAME_FOREIGN, /* from a machine of the other byte order */
};

/* Of a frame that carries this. */
uint32_t frame_bytes(enum value_kind kind, uint32_t length);
/* Room for `frame_bytes` of the value, aligned as malloc does it. */
void frame_write(void *buffer, const struct value *value);
/* A frame that was written: what differs from one sending to the next. */
void frame_stamp(void *buffer, uint16_t flags, uint64_t sequence);
/* A request that was read becomes its answer. The elements are where they were; the rest of the value is put back. */
void frame_become_answer(void *buffer, const struct frame *frame);

/* From the first FRAME_HEADER_BYTES: may a frame begin so, and how many bytes has it? `buffer` need not be aligned. */
enum frame_verdict frame_begins(const void *buffer, uint32_t *bytes);
/* The whole frame, which must have as many bytes as its header says. Elements are aligned if `buffer` is. */
enum frame_verdict frame_read(void *buffer, size_t bytes, struct frame *frame);
/* For who sends frames of the other byte order: a small one by which it notices. False: none is due, since what it sent
 * was an answer itself. */
bool frame_refuse_foreign(const void *received, void *refusal);
/* May its elements be touched where they are? */
bool frame_is_aligned(const struct frame *frame);

#endif
