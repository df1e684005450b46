/* Frames come out of a stream of bytes whole, however they were cut on the way, and garbage comes out as such. */
#include "transport/stream_bytes.h"
#include "transport/sockets.h"
#include "values.h"
#include "test/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FRAMES = 400, LONGEST = 3000, MANY_TRIES = 300, PATIENCE_NS = 50000000 };

static int32_t elements[LONGEST];

static void open_pair(struct stream_bytes *stream, bool eager, int *writer)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    *stream = (struct stream_bytes){.file = pair[0], .eager = eager};
    *writer = pair[1];
    assert_int_equal(stream_bytes_reserve(stream, FRAME_HEADER_BYTES), OS_OK);
}

static void close_pair(struct stream_bytes *stream, int writer)
{
    close(stream->file);
    if (writer >= 0) {
        close(writer);
    }
    stream_bytes_free(stream);
}

/* ---- Frames in pieces ------------------------------------------------------ */

struct pieces {
    int file;
    uint8_t *data;
    size_t bytes;
};

static void nth_frame(uint32_t i, enum value_kind *kind, uint32_t *length)
{
    *kind = (enum value_kind)(i % VALUE_KINDS);
    *length = value_is_sequence(*kind) ? i * 31 % LONGEST : 0;
}

static void *write_pieces(void *argument)
{
    const struct pieces *const pieces = argument;
    uint64_t random = 42;
    size_t sent = 0;
    while (sent < pieces->bytes) {
        size_t next = (size_t)(next_random(&random) % (sent % 3 == 0 ? 50 : 20000)) + 1;
        next = next < pieces->bytes - sent ? next : pieces->bytes - sent;
        const ssize_t taken = send(pieces->file, pieces->data + sent, next, MSG_NOSIGNAL);
        if (taken < 0) {
            break;
        }
        sent += (size_t)taken;
    }
    return NULL;
}

static void all_frames(struct pieces *pieces)
{
    pieces->data = calloc(FRAMES, (size_t)frame_bytes(VALUE_LONGS, LONGEST));
    assert_non_null(pieces->data);
    for (uint32_t i = 0; i < FRAMES; i++) {
        struct value value = {.elements = elements};
        enum value_kind kind;
        uint32_t length;
        nth_frame(i, &kind, &length);
        value_fill(&value, kind, length, i);
        frame_write(pieces->data + pieces->bytes, &value);
        frame_stamp(pieces->data + pieces->bytes, FRAME_REQUEST, i);
        pieces->bytes += frame_bytes(kind, length);
    }
}

static void receive_all(bool eager)
{
    struct stream_bytes stream;
    struct pieces pieces = {.bytes = 0};
    open_pair(&stream, eager, &pieces.file);
    all_frames(&pieces);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_pieces, &pieces), 0);
    for (uint32_t i = 0; i < FRAMES; i++) {
        struct frame frame;
        struct value expected = {.elements = elements};
        enum value_kind kind;
        uint32_t length;
        nth_frame(i, &kind, &length);
        value_fill(&expected, kind, length, i);
        const size_t sure = eager ? (size_t)FRAME_HEADER_BYTES : frame_bytes(kind, length);
        assert_int_equal(stream_bytes_receive(&stream, sure, &frame), OS_OK);
        assert_true(frame.sequence == i);
        assert_true(frame_is_aligned(&frame));
        assert_true(value_equal(&frame.value, &expected));
        assert_memory_equal(stream_bytes_last(&stream, &frame), &(uint32_t){0x54437562}, sizeof(uint32_t));
    }
    pthread_join(thread, NULL);
    close_pair(&stream, pieces.file);
    free(pieces.data);
}

static void frames_arrive_whole_however_they_were_cut(void **state)
{
    (void)state;
    receive_all(true);
    receive_all(false);
}

/* ---- What is no frame -------------------------------------------------------- */

static void who_sends_garbage_is_told_apart_from_who_goes_away(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (uint32_t i = 0; i < MANY_TRIES; i++) {
        struct stream_bytes stream;
        struct frame frame;
        int writer = -1;
        uint8_t garbage[500];
        const size_t bytes = (size_t)(next_random(&random) % sizeof garbage);
        open_pair(&stream, i % 2 == 0, &writer);
        fill_random(garbage, sizeof garbage, &random);
        assert_int_equal(send(writer, garbage, bytes, MSG_NOSIGNAL), bytes);
        close(writer);
        assert_int_equal(stream_bytes_receive(&stream, FRAME_HEADER_BYTES, &frame),
                         bytes < FRAME_HEADER_BYTES ? OS_CLOSED : OS_INVALID);
        close_pair(&stream, -1);
    }
}

static void half_a_frame_is_no_frame(void **state)
{
    (void)state;
    for (int ends = 0; ends < 2; ends++) {
        struct stream_bytes stream;
        struct frame frame;
        struct value value = {.elements = elements};
        uint8_t buffer[4096];
        int writer = -1;
        open_pair(&stream, true, &writer);
        assert_true(socket_be_patient(stream.file, false, PATIENCE_NS));
        value_fill(&value, VALUE_OCTETS, LONGEST, 1);
        frame_write(buffer, &value);
        const size_t half = frame_bytes(VALUE_OCTETS, LONGEST) / 2;
        assert_int_equal(send(writer, buffer, half, MSG_NOSIGNAL), half);
        if (ends == 1) {
            close(writer);
        }
        assert_int_equal(stream_bytes_receive(&stream, FRAME_HEADER_BYTES, &frame),
                         ends == 1 ? OS_CLOSED : OS_TIMED_OUT);
        close_pair(&stream, ends == 1 ? -1 : writer);
    }
}

TESTS(cmocka_unit_test(frames_arrive_whole_however_they_were_cut),
      cmocka_unit_test(who_sends_garbage_is_told_apart_from_who_goes_away),
      cmocka_unit_test(half_a_frame_is_no_frame))
