/* The barrier: a count, and a round that waiters watch. They sleep on futex(2) where there is one: not even the last
 * thread has to take a lock then, and it makes a system call only if somebody sleeps. */
#define _GNU_SOURCE /* syscall */
#include "status.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef __linux__
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <pthread.h>
#endif

enum { CACHE_LINE = 64, LOOKS_PER_CLOCK = 32 };
/* futex(2); not every C library has the kernel's header. */
enum { FUTEX_WAIT_PRIVATE = 128, FUTEX_WAKE_PRIVATE = 129 };

struct os_barrier {
    uint32_t count;
    int64_t spin_ns;
#ifndef __linux__
    pthread_mutex_t mutex;
    pthread_cond_t changed;
#endif
    /* Those who come write here, those who wait read below: on lines of their own, they don't disturb each other. */
    alignas(CACHE_LINE) atomic_uint arrived;
    alignas(CACHE_LINE) atomic_uint round;
    atomic_uint asleep;
};

#ifdef __linux__

static enum os_status bed_make(struct os_barrier *barrier)
{
    (void)barrier;
    return OS_OK;
}

static void bed_unmake(struct os_barrier *barrier)
{
    (void)barrier;
}

/* The kernel looks at the round once more before it lets the thread sleep. */
static void sleep_through(struct os_barrier *barrier, unsigned round)
{
    while (atomic_load(&barrier->round) == round) {
        syscall(SYS_futex, &barrier->round, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
    }
}

static void wake_all(struct os_barrier *barrier)
{
    syscall(SYS_futex, &barrier->round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#else

static enum os_status bed_make(struct os_barrier *barrier)
{
    const int error = pthread_mutex_init(&barrier->mutex, NULL);
    return os_status_from_errno(error != 0 ? error : pthread_cond_init(&barrier->changed, NULL));
}

static void bed_unmake(struct os_barrier *barrier)
{
    pthread_cond_destroy(&barrier->changed);
    pthread_mutex_destroy(&barrier->mutex);
}

static void sleep_through(struct os_barrier *barrier, unsigned round)
{
    pthread_mutex_lock(&barrier->mutex);
    while (atomic_load(&barrier->round) == round) {
        pthread_cond_wait(&barrier->changed, &barrier->mutex);
    }
    pthread_mutex_unlock(&barrier->mutex);
}

static void wake_all(struct os_barrier *barrier)
{
    pthread_mutex_lock(&barrier->mutex); /* nobody is between the look and the sleep */
    pthread_cond_broadcast(&barrier->changed);
    pthread_mutex_unlock(&barrier->mutex);
}

#endif

enum os_status os_barrier_create(struct os_barrier **barrier, uint32_t count, int64_t spin_ns)
{
    struct os_barrier *const made = aligned_alloc(CACHE_LINE, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    *made = (struct os_barrier){.count = count, .spin_ns = spin_ns};
    const enum os_status status = bed_make(made);
    if (status != OS_OK) {
        free(made);
        return status;
    }
    *barrier = made;
    return OS_OK;
}

void os_barrier_destroy(struct os_barrier *barrier)
{
    if (barrier != NULL) {
        bed_unmake(barrier);
        free(barrier);
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
        sleep_through(barrier, round);
        atomic_fetch_sub(&barrier->asleep, 1);
    }
    return false;
}

void os_barrier_open(struct os_barrier *barrier)
{
    atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
    atomic_fetch_add(&barrier->round, 1);
    if (atomic_load(&barrier->asleep) > 0) {
        wake_all(barrier);
    }
}
