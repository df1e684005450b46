/*
 * One round, on one CPU: low takes the mutex and wakes middle, which takes the CPU from it and wakes high, which takes
 * it from middle and asks for the mutex. Now high waits for low, and middle, which is ready, stands above low: without
 * help low does not run before middle is done. Inheritance lifts low above middle; its only remaining work is to
 * release.
 */
#include "experiment/rhealstone_tasks.h"

/* Where nothing breaks the deadlock, middle does: it gives up after this long. */
enum { MIDDLE_WORKS_NS = 1000000 };

/* Of which there is one writer. */
static void count(_Atomic int64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_release);
}

void deadlock_high(struct stage *stage)
{
    struct meeting *const meeting = stage->context;
    struct pair *const pair = &meeting->pair;
    pair_begin(pair, stage);
    for (bool goes_on = true; goes_on;) {
        os_semaphore_wait(meeting->wake_high);
        const int64_t releases = atomic_load_explicit(&meeting->releases, memory_order_acquire);
        const int64_t before_ns = os_now_ns();
        const enum os_status locked = os_mutex_lock(meeting->mutex);
        const int64_t after_ns = os_now_ns();
        const enum os_status unlocked = os_mutex_unlock(meeting->mutex);
        if (locked != OS_OK || unlocked != OS_OK) {
            stage_fail(stage, locked != OS_OK ? locked : unlocked);
        }
        /* It was held when high asked if low came to its release only after that. */
        const bool broken = atomic_load_explicit(&meeting->releases, memory_order_acquire) != releases;
        goes_on = pair_take_row(pair, stage, broken, before_ns, after_ns);
        count(&meeting->acquired);
        os_semaphore_post(pair->taken);
    }
}

void deadlock_middle(struct stage *stage)
{
    struct meeting *const meeting = stage->context;
    for (;;) {
        os_semaphore_wait(meeting->wake_middle);
        if (atomic_load(&meeting->pair.over)) {
            return;
        }
        const int64_t acquired = atomic_load_explicit(&meeting->acquired, memory_order_acquire);
        const int64_t until_ns = os_now_ns() + MIDDLE_WORKS_NS;
        os_semaphore_post(meeting->wake_high);
        while (atomic_load_explicit(&meeting->acquired, memory_order_acquire) == acquired && os_now_ns() < until_ns) {
        }
    }
}

void deadlock_low(struct stage *stage)
{
    struct meeting *const meeting = stage->context;
    bool goes_on = true;
    for (int64_t i = 0; goes_on; i++) {
        const enum os_status locked = os_mutex_lock(meeting->mutex);
        os_semaphore_post(meeting->wake_middle);
        count(&meeting->releases);
        const enum os_status unlocked = os_mutex_unlock(meeting->mutex);
        if (locked != OS_OK || unlocked != OS_OK) {
            stage_fail(stage, locked != OS_OK ? locked : unlocked);
        }
        goes_on = pair_wait_taken(&meeting->pair);
        pair_rest(i);
    }
    os_semaphore_post(meeting->wake_middle);
}
