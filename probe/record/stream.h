/* Writing the sample stream of docs/stream.md. Not for measuring threads: it does I/O. */
#ifndef TAUTO_STREAM_H
#define TAUTO_STREAM_H

#include "os/os.h"
#include "record/crc32c.h"
#include "record/json.h"

enum frame_type { FRAME_HEADER = 1, FRAME_ROWS = 2, FRAME_EVENT = 3, FRAME_FOOTER = 4 };

enum { FRAME_PAYLOAD_LIMIT_BYTES = 1048576, STREAM_BUFFER_BYTES = 65536 };

struct stream {
    struct os_output output;
    uint32_t sequence;
    bool failed; /* sticky: a write did not go through, nothing more is written */
    size_t buffered;
    uint8_t buffer[STREAM_BUFFER_BYTES];
    struct crc32c crc;
};

/* `path` as for os_output_open. */
enum os_status stream_open(struct stream *stream, const char *path);
/* False when any frame did not reach the system in full. */
bool stream_close(struct stream *stream);

/* Each returns false when the stream has failed. `bytes` is a multiple of 8 within the limit. */
bool stream_write_rows(struct stream *stream, uint8_t table, uint16_t source, const void *rows, size_t bytes);
/* The same, made byte by byte: for machines that are not little-endian, and for tests on those that are. */
bool stream_write_rows_turned(struct stream *stream, uint8_t table, uint16_t source, const void *rows, size_t bytes);
bool stream_write_json(struct stream *stream, enum frame_type type, struct json *json);
/* Hand on what is buffered, so that a reader sees it now. */
bool stream_flush(struct stream *stream);

#endif
