#include "record/stream.h"

#include "record/little_endian.h"

#include <string.h>

enum { FRAME_HEADER_BYTES = 24, CHECKED_HEADER_BYTES = 20 };

static const uint32_t magic = 0x46554154U; /* TAUF */

enum os_status stream_open(struct stream *stream, const char *path)
{
    stream->sequence = 0;
    stream->failed = false;
    stream->buffered = 0;
    crc32c_prepare(&stream->crc);
    return os_output_open(path, &stream->output);
}

bool stream_close(struct stream *stream)
{
    stream_flush(stream);
    if (os_output_close(stream->output) != OS_OK) {
        stream->failed = true;
    }
    return !stream->failed;
}

/* Small pieces are gathered, large ones go as they are. */
static void write_bytes(struct stream *stream, const void *data, size_t bytes)
{
    if (stream->buffered + bytes > STREAM_BUFFER_BYTES) {
        stream_flush(stream);
    }
    if (stream->failed) {
        return;
    }
    if (bytes > STREAM_BUFFER_BYTES) {
        stream->failed = os_output_write(stream->output, data, bytes) != OS_OK;
    } else {
        memcpy(stream->buffer + stream->buffered, data, bytes);
        stream->buffered += bytes;
    }
}

static bool begin_frame(struct stream *stream, enum frame_type type, uint8_t table, uint16_t source, size_t bytes,
                        uint32_t payload_crc)
{
    if (stream->failed || bytes % 8 != 0 || bytes > FRAME_PAYLOAD_LIMIT_BYTES) {
        stream->failed = true;
        return false;
    }
    uint8_t header[FRAME_HEADER_BYTES];
    put_little_endian(header, magic, 4);
    header[4] = (uint8_t)type;
    header[5] = table;
    put_little_endian(header + 6, source, 2);
    put_little_endian(header + 8, (uint32_t)bytes, 4);
    put_little_endian(header + 12, stream->sequence++, 4);
    put_little_endian(header + 16, payload_crc, 4);
    put_little_endian(header + 20, crc32c_of(&stream->crc, header, CHECKED_HEADER_BYTES), 4);
    write_bytes(stream, header, sizeof header);
    return !stream->failed;
}

static bool write_frame(struct stream *stream, enum frame_type type, uint8_t table, uint16_t source,
                        const void *payload, size_t bytes)
{
    if (!begin_frame(stream, type, table, source, bytes, crc32c_of(&stream->crc, payload, bytes))) {
        return false;
    }
    write_bytes(stream, payload, bytes);
    return !stream->failed;
}

/* Twice over the rows, as the checksum goes out first, and without a buffer as large as they are. */
bool stream_write_rows_turned(struct stream *stream, uint8_t table, uint16_t source, const void *rows, size_t bytes)
{
    const size_t count = bytes / WORD_BYTES;
    uint8_t turned[WORDS_AT_ONCE * WORD_BYTES];
    if (!begin_frame(stream, FRAME_ROWS, table, source, bytes, crc32c_of_words(&stream->crc, rows, count))) {
        return false;
    }
    for (size_t at = 0; at < count; at += WORDS_AT_ONCE) {
        const size_t some = put_words(turned, (const uint8_t *)rows + at * WORD_BYTES, count - at);
        write_bytes(stream, turned, some);
    }
    return !stream->failed;
}

/* Where the machine is little-endian they go out as they lie in memory. */
bool stream_write_rows(struct stream *stream, uint8_t table, uint16_t source, const void *rows, size_t bytes)
{
    return is_little_endian_here() ? write_frame(stream, FRAME_ROWS, table, source, rows, bytes)
                                   : stream_write_rows_turned(stream, table, source, rows, bytes);
}

bool stream_write_json(struct stream *stream, enum frame_type type, struct json *json)
{
    json_pad(json, 8);
    return !json->out_of_memory && write_frame(stream, type, 0, 0, json->text, json->length);
}

bool stream_flush(struct stream *stream)
{
    if (!stream->failed && stream->buffered > 0) {
        stream->failed = os_output_write(stream->output, stream->buffer, stream->buffered) != OS_OK;
        stream->buffered = 0;
    }
    return !stream->failed;
}
