/* Memory: allocate, touch every page, walk it with copies, give it back, again. Faults, the page allocator and
 * the shared caches and buses are what it loads. */
#include "load/load.h"

#include <string.h>

enum { PIECE_BYTES = 65536 };

static void touch_and_copy(struct load_thread *thread, uint8_t *memory, size_t bytes)
{
    for (size_t at = 0; at + 2 * (size_t)PIECE_BYTES <= bytes && !load_must_end(thread);
         at += 2 * (size_t)PIECE_BYTES) {
        memset(memory + at, (int)(at & 0xffU), PIECE_BYTES);
        memcpy(memory + at + PIECE_BYTES, memory + at, PIECE_BYTES);
        thread->operations += 3UL * PIECE_BYTES;
    }
}

static void work(struct load_thread *thread)
{
    const size_t bytes = (size_t)(thread->options->bytes / thread->options->cpus.count);
    while (!load_must_end(thread)) {
        void *memory = NULL;
        if (os_memory_allocate(&memory, bytes) != OS_OK) {
            os_sleep_until(os_now_ns() + 10000000); /* another thread gives some back soon */
            continue;
        }
        thread->operations += bytes;
        touch_and_copy(thread, memory, bytes);
        os_memory_free(memory, bytes);
    }
}

const struct load load_memory = {
    .name = "memory",
    .summary = "allocates, touches, copies and frees memory on every chosen CPU",
    .unit = "bytes written or read",
    .work = work,
};
