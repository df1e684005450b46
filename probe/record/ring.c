#include "record/ring.h"

#include "os/ordinary.h"

static const uint64_t most_rows = (uint64_t)1 << 32;

static uint64_t power_of_two_at_least(uint64_t rows)
{
    uint64_t capacity = 1;
    while (capacity < rows) {
        capacity *= 2;
    }
    return capacity;
}

uint64_t ring_bytes(uint64_t rows, uint32_t row_words)
{
    return rows > most_rows ? UINT64_MAX : power_of_two_at_least(rows) * row_words * sizeof(int64_t);
}

enum os_status ring_create(struct ring *ring, uint64_t rows, uint32_t row_words, int32_t cpu)
{
    if (rows == 0 || rows > most_rows || row_words == 0) {
        return OS_INVALID;
    }
    void *memory = NULL;
    const uint64_t capacity = power_of_two_at_least(rows);
    const uint64_t bytes = ring_bytes(rows, row_words);
    if (bytes > SIZE_MAX) {
        return OS_NO_MEMORY;
    }
    const enum os_status status = os_memory_allocate_near(&memory, (size_t)bytes, cpu);
    if (status != OS_OK) {
        return status;
    }
    ring->rows = memory;
    ring->capacity = capacity;
    ring->mask = capacity - 1;
    ring->row_words = row_words;
    ring->voids = NULL;
    ring->read_seen = 0;
    atomic_init(&ring->written, 0);
    atomic_init(&ring->dropped, 0);
    atomic_init(&ring->read, 0);
    return OS_OK;
}

enum os_status ring_allow_voids(struct ring *ring)
{
    void *memory = NULL;
    const enum os_status status = os_memory_allocate(&memory, (size_t)ring->capacity * sizeof *ring->voids);
    ring->voids = memory;
    return status;
}

void ring_destroy(struct ring *ring)
{
    if (ring->voids != NULL) {
        os_memory_free(ring->voids, (size_t)ring->capacity * sizeof *ring->voids);
        ring->voids = NULL;
    }
    os_memory_free(ring->rows, (size_t)ring->capacity * ring->row_words * sizeof(int64_t));
    ring->rows = NULL;
}

uint64_t ring_waiting(struct ring *ring)
{
    return atomic_load_explicit(&ring->written, memory_order_acquire) -
           atomic_load_explicit(&ring->read, memory_order_relaxed);
}

static uint64_t until_void(const struct ring *ring, uint64_t from, uint64_t most)
{
    uint64_t count = 0;
    while (count < most && !atomic_load_explicit(&ring->voids[(from + count) & ring->mask], memory_order_relaxed)) {
        count++;
    }
    return count;
}

const int64_t *ring_peek(struct ring *ring, uint64_t *count)
{
    const uint64_t read = atomic_load_explicit(&ring->read, memory_order_relaxed);
    const uint64_t written = atomic_load_explicit(&ring->written, memory_order_acquire);
    const uint64_t until_wrap = ring->capacity - (read & ring->mask);
    const uint64_t most = written - read < until_wrap ? written - read : until_wrap;
    *count = ring->voids == NULL ? most : until_void(ring, read, most);
    return ring->rows + (read & ring->mask) * ring->row_words;
}

void ring_release(struct ring *ring, uint64_t count)
{
    const uint64_t read = atomic_load_explicit(&ring->read, memory_order_relaxed);
    for (uint64_t i = 0; i < count && ring->voids != NULL; i++) {
        atomic_store_explicit(&ring->voids[(read + i) & ring->mask], false, memory_order_relaxed);
    }
    atomic_store_explicit(&ring->read, read + count, memory_order_release);
}
