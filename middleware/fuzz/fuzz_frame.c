/* Bytes on a stream socket, and as one datagram: frames, cubed where they lie, and answered. */
#include "fuzz/fuzz.h"

#include "transport/frame.h"
#include "transport/stream_bytes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_SENT = 65536, FRAMES = 64 };

static void use(struct frame *frame, void *buffer)
{
    if (frame_is_aligned(frame)) {
        value_cube(&frame->value);
        frame_become_answer(buffer, frame);
    }
}

static void read_datagram(const uint8_t *data, size_t size)
{
    struct frame frame;
    uint64_t refusal[FRAME_HEADER_BYTES / sizeof(uint64_t) + 1];
    uint8_t *const copy = (uint8_t *)fuzz_string(data, size);
    const enum frame_verdict verdict = frame_read(copy, size, &frame);
    if (verdict == FRAME_GOOD) {
        use(&frame, copy);
    } else if (verdict == FRAME_FOREIGN) {
        (void)frame_refuse_foreign(copy, refusal);
    }
    free(copy);
}

static void read_stream(const uint8_t *data, size_t size, bool eager)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        abort();
    }
    if (send(ends[0], data, size, MSG_DONTWAIT) != (ssize_t)size) {
        abort();
    }
    close(ends[0]);
    struct stream_bytes stream = {.file = ends[1], .eager = eager};
    struct frame frame;
    for (int i = 0; i < FRAMES && stream_bytes_receive(&stream, FRAME_HEADER_BYTES, &frame) == OS_OK; i++) {
        use(&frame, stream_bytes_last(&stream, &frame));
    }
    stream_bytes_free(&stream);
    close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_datagram(data, size);
    if (size > 0 && size <= MOST_SENT) {
        read_stream(data, size, false);
        read_stream(data, size, true);
    }
    return 0;
}
