/* Frames out of a stream of bytes: what both ends of a stream socket do. */
#ifndef TAUTO_STREAM_BYTES_H
#define TAUTO_STREAM_BYTES_H

#include "frame.h"
#include "os/os.h"

struct stream_bytes {
    int file;
    int64_t patience_ns; /* the socket's own, which a signal begins anew; 0: there is no end to it */
    bool eager; /* takes what has arrived, as it knows not what comes; otherwise waits for what it is told */
    uint8_t *buffer;
    size_t room;
    size_t begin; /* of what was received and is not used up yet: a multiple of FRAME_ALIGNMENT */
    size_t end;
};

/* Room for a frame of so many bytes. Frames that were received before are no more. */
enum os_status stream_bytes_reserve(struct stream_bytes *stream, size_t bytes);
void stream_bytes_free(struct stream_bytes *stream); /* the socket stays open */

/* The next frame, in place, until the next call. `expected`: so many bytes are sure to come. OS_INVALID: what came is
 * no frame, OS_UNSUPPORTED: it is of the other byte order; the stream is of no use any more. OS_TIMED_OUT, OS_CLOSED. */
enum os_status stream_bytes_receive(struct stream_bytes *stream, size_t expected, struct frame *frame);
/* All of it. */
enum os_status stream_bytes_send(const struct stream_bytes *stream, const void *data, size_t bytes);
/* Where the last frame lies. */
void *stream_bytes_last(const struct stream_bytes *stream, const struct frame *frame);

#endif
