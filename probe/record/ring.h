/*
 * A ring of rows between one measuring thread (producer) and one draining thread (consumer).
 * The producer neither waits nor calls: a row that finds the ring full is counted as dropped.
 * A row is `row_words` integers of 64 bits.
 */
#ifndef TAUTO_RING_H
#define TAUTO_RING_H

#include "os/both.h"

#include <stdatomic.h>

enum { CACHE_LINE_BYTES = 64 };

struct ring {
    int64_t *rows;
    uint64_t capacity; /* in rows, a power of two */
    uint64_t mask;
    uint32_t row_words;
    _Atomic bool *voids; /* one for each row; NULL where no row can become void */

    _Alignas(CACHE_LINE_BYTES) _Atomic uint64_t written; /* the producer's line */
    uint64_t read_seen;                                   /* the producer's last look at `read` */
    _Atomic uint64_t dropped;

    _Alignas(CACHE_LINE_BYTES) _Atomic uint64_t read; /* the consumer's line */
};

/* Allocates, touches and zeroes room for at least `rows` rows (at most 2^32), near `cpu`, where the producer runs.
 * OS_INVALID: no rows or no words. OS_NO_MEMORY. */
enum os_status ring_create(struct ring *ring, uint64_t rows, uint32_t row_words, int32_t cpu);
/* What that takes: the rows are rounded up to a power of two. UINT64_MAX: more than can be counted. */
uint64_t ring_bytes(uint64_t rows, uint32_t row_words);
void ring_destroy(struct ring *ring);
/* From now on rows can become void (ring_void). OS_NO_MEMORY. */
enum os_status ring_allow_voids(struct ring *ring);

/* Of a counter that one thread writes and others read meanwhile. */
static inline void counter_add(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more, memory_order_relaxed);
}

/* Producer: where the next row goes, or NULL (and one more dropped) when the ring is full. */
static inline int64_t *ring_slot(struct ring *ring)
{
    const uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    if (written - ring->read_seen >= ring->capacity) {
        ring->read_seen = atomic_load_explicit(&ring->read, memory_order_acquire);
        if (written - ring->read_seen >= ring->capacity) {
            counter_add(&ring->dropped, 1);
            return NULL;
        }
    }
    return ring->rows + (written & ring->mask) * ring->row_words;
}

/* Producer: the row from the last ring_slot() is filled in. */
static inline void ring_commit(struct ring *ring)
{
    const uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    atomic_store_explicit(&ring->written, written + 1, memory_order_release);
}

/* Producer, or what interrupts it: the row that is being taken, or is taken next, is void. A ring that is full drops it. */
static inline void ring_void(struct ring *ring)
{
    const uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    if (written - atomic_load_explicit(&ring->read, memory_order_acquire) < ring->capacity) {
        atomic_store_explicit(&ring->voids[written & ring->mask], true, memory_order_relaxed);
    }
}

/* Consumer: how many rows wait. */
uint64_t ring_waiting(struct ring *ring);
/* Consumer: rows that lie in one piece, oldest first; their number in `count`, 0 when there are none, or the oldest one is
 * void. */
const int64_t *ring_peek(struct ring *ring, uint64_t *count);
/* Consumer: give the first `count` of them back. */
void ring_release(struct ring *ring, uint64_t count);

#endif
