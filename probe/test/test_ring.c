#include "os/os.h"
#include "record/ring.h"
#include "test/check.h"

static void a_full_ring_refuses_and_counts_what_it_refused(void **state)
{
    (void)state;
    struct ring ring;
    assert_int_equal(ring_create(&ring, 4, 2, OS_CPU_ANY), OS_OK);
    for (int i = 0; i < 4; i++) {
        int64_t *const row = ring_slot(&ring);
        assert_non_null(row);
        row[0] = i;
        row[1] = -i;
        ring_commit(&ring);
    }
    assert_null(ring_slot(&ring));
    assert_null(ring_slot(&ring));
    assert_int_equal(atomic_load(&ring.dropped), 2);

    uint64_t count = 0;
    const int64_t *const rows = ring_peek(&ring, &count);
    assert_int_equal(count, 4);
    assert_int_equal(rows[0], 0);
    assert_int_equal(rows[7], -3);
    ring_release(&ring, 1);
    assert_non_null(ring_slot(&ring));
    ring_destroy(&ring);
}

static void rows_that_wrap_are_given_out_in_two_pieces_and_in_order(void **state)
{
    (void)state;
    struct ring ring;
    assert_int_equal(ring_create(&ring, 4, 1, OS_CPU_ANY), OS_OK);
    int64_t next_in = 0;
    int64_t next_out = 0;
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 3; i++) {
            int64_t *const row = ring_slot(&ring);
            assert_non_null(row);
            *row = next_in++;
            ring_commit(&ring);
        }
        uint64_t count = 0;
        const int64_t *rows = ring_peek(&ring, &count);
        while (count > 0) {
            for (uint64_t i = 0; i < count; i++) {
                assert_int_equal(rows[i], next_out++);
            }
            ring_release(&ring, count);
            rows = ring_peek(&ring, &count);
        }
    }
    assert_int_equal(next_out, 300);
    ring_destroy(&ring);
}

enum { PASSED_ON = 200000 };

static void produce(void *argument)
{
    struct ring *const ring = argument;
    for (int64_t i = 0; i < PASSED_ON; i++) {
        int64_t *row = ring_slot(ring);
        while (row == NULL) {
            os_yield();
            row = ring_slot(ring);
        }
        row[0] = i;
        row[1] = 3 * i;
        ring_commit(ring);
    }
}

static void every_row_crosses_between_two_threads_once_and_whole(void **state)
{
    (void)state;
    struct ring ring;
    struct os_thread *producer = NULL;
    const struct os_thread_attributes attributes = {.name = "producer", .cpu = OS_CPU_ANY};
    assert_int_equal(ring_create(&ring, 64, 2, OS_CPU_ANY), OS_OK);
    assert_int_equal(os_thread_create(&producer, &attributes, produce, &ring), OS_OK);
    int64_t expected = 0;
    while (expected < PASSED_ON) {
        uint64_t count = 0;
        const int64_t *const rows = ring_peek(&ring, &count);
        for (uint64_t i = 0; i < count; i++, expected++) {
            assert_int_equal(rows[2 * i], expected);
            assert_int_equal(rows[2 * i + 1], 3 * expected);
        }
        ring_release(&ring, count);
        if (count == 0) {
            os_yield();
        }
    }
    assert_int_equal(os_thread_join(producer), OS_OK);
    ring_destroy(&ring);
}

static void a_ring_without_rows_is_refused(void **state)
{
    (void)state;
    struct ring ring;
    assert_int_equal(ring_create(&ring, 0, 2, OS_CPU_ANY), OS_INVALID);
    assert_int_equal(ring_create(&ring, 2, 0, OS_CPU_ANY), OS_INVALID);
    assert_int_equal(ring_create(&ring, UINT64_MAX, 2, OS_CPU_ANY), OS_INVALID);
}

static void put(struct ring *ring, int64_t value)
{
    int64_t *const row = ring_slot(ring);
    assert_non_null(row);
    *row = value;
    ring_commit(ring);
}

static void rows_that_became_void_are_skipped_one_by_one_and_their_places_are_used_again(void **state)
{
    (void)state;
    struct ring ring;
    uint64_t count = 0;
    assert_int_equal(ring_create(&ring, 4, 1, OS_CPU_ANY), OS_OK);
    assert_int_equal(ring_allow_voids(&ring), OS_OK);
    for (int64_t round = 0; round < 3; round++) {
        put(&ring, 0);
        ring_void(&ring); /* twice while one row is taken: still one row */
        ring_void(&ring);
        put(&ring, 1);
        put(&ring, 2);
        put(&ring, 3);
        ring_void(&ring); /* full: there is no row that it could be */
        assert_int_equal(*ring_peek(&ring, &count), 0);
        assert_int_equal(count, 1);
        ring_release(&ring, count);
        (void)ring_peek(&ring, &count);
        assert_int_equal(count, 0);
        assert_int_equal(ring_waiting(&ring), 3);
        ring_release(&ring, 1);
        uint64_t taken = 0;
        while (ring_waiting(&ring) > 0) {
            assert_int_equal(*ring_peek(&ring, &count), 2 + (int64_t)taken);
            ring_release(&ring, count);
            taken += count;
        }
        assert_int_equal(taken, 2);
    }
    ring_destroy(&ring);
}

TESTS(cmocka_unit_test(rows_that_became_void_are_skipped_one_by_one_and_their_places_are_used_again),
      cmocka_unit_test(a_full_ring_refuses_and_counts_what_it_refused),
      cmocka_unit_test(rows_that_wrap_are_given_out_in_two_pieces_and_in_order),
      cmocka_unit_test(every_row_crosses_between_two_threads_once_and_whole),
      cmocka_unit_test(a_ring_without_rows_is_refused))
