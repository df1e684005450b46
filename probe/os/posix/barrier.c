/* The barrier: a count, and a round that waiters watch, awake for a while and then asleep (barrier_bed.h). */
#include "barrier_bed.h"

#include "os/os.h"

#include <stdalign.h>
#include <stdatomic.h>

enum { CACHE_LINE = 64, LOOKS_PER_CLOCK = 32 };

struct os_barrier {
    uint32_t count;
    int64_t spin_ns;
    struct barrier_bed *bed;
    /* Those who come write here, those who wait read below: on lines of their own, they don't disturb each other. */
    alignas(CACHE_LINE) atomic_uint arrived;
    alignas(CACHE_LINE) atomic_uint round;
    atomic_uint asleep;
};

enum os_status os_barrier_create(struct os_barrier **barrier, uint32_t count, int64_t spin_ns)
{
    void *memory = NULL; /* begins at a page, so at a cache line */
    enum os_status status = os_memory_allocate(&memory, sizeof(struct os_barrier));
    if (status != OS_OK) {
        return status;
    }
    struct os_barrier *const made = memory;
    *made = (struct os_barrier){.count = count, .spin_ns = spin_ns};
    status = barrier_bed_make(&made->bed);
    if (status != OS_OK) {
        os_memory_free(made, sizeof *made);
        return status;
    }
    *barrier = made;
    return OS_OK;
}

void os_barrier_destroy(struct os_barrier *barrier)
{
    if (barrier != NULL) {
        barrier_bed_unmake(barrier->bed);
        os_memory_free(barrier, sizeof *barrier);
    }
}

/* Tells the CPU that this loop waits: its other thread may have what this one doesn't need. */
static void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__ || (defined __arm__ && __ARM_ARCH >= 7)
    __asm__ volatile("yield");
#endif
}

static bool round_ended(struct os_barrier *barrier, unsigned round)
{
    for (int look = 0; look < LOOKS_PER_CLOCK; look++) {
        if (atomic_load_explicit(&barrier->round, memory_order_acquire) != round) {
            return true;
        }
        relax();
    }
    return false;
}

static bool ended_while_spinning(struct os_barrier *barrier, unsigned round)
{
    if (barrier->spin_ns <= 0) {
        return false;
    }
    const int64_t until_ns = os_now_ns() + barrier->spin_ns;
    do {
        if (round_ended(barrier, round)) {
            return true;
        }
    } while (os_now_ns() < until_ns);
    return false;
}

bool os_barrier_meet(struct os_barrier *barrier)
{
    const unsigned round = atomic_load(&barrier->round); /* stays so until this thread has come */
    if (atomic_fetch_add(&barrier->arrived, 1) + 1 == barrier->count) {
        return true;
    }
    if (!ended_while_spinning(barrier, round)) {
        atomic_fetch_add(&barrier->asleep, 1); /* said before the last look: whoever opens sees it, or is seen */
        barrier_bed_sleep(barrier->bed, &barrier->round, round);
        atomic_fetch_sub(&barrier->asleep, 1);
    }
    return false;
}

void os_barrier_open(struct os_barrier *barrier)
{
    atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
    atomic_fetch_add(&barrier->round, 1);
    if (atomic_load(&barrier->asleep) > 0) {
        barrier_bed_wake(barrier->bed, &barrier->round);
    }
}
