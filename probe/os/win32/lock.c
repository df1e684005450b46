/* Locks: slim reader/writer locks, semaphores, condition variables; WaitOnAddress, where the barrier's waiters sleep. */
#include "win32.h"

#include "os/posix/barrier_bed.h"
#include "os/realtime.h"

#include <stdlib.h>

enum { NS_PER_MS = 1000000, LONGEST_SLICE_MS = 1000 };

/* ---- Mutex -------------------------------------------------------------- */

struct os_mutex {
    SRWLOCK native;
};

/* A lock of Windows knows no owner, so that nobody could inherit anything. */
enum os_status os_mutex_create(struct os_mutex **mutex, enum os_mutex_protocol protocol, int32_t ceiling_below_highest)
{
    (void)ceiling_below_highest;
    if (protocol != OS_MUTEX_NONE) {
        return OS_UNSUPPORTED;
    }
    *mutex = calloc(1, sizeof **mutex); /* SRWLOCK_INIT is zero */
    return *mutex != NULL ? OS_OK : OS_NO_MEMORY;
}

void os_mutex_destroy(struct os_mutex *mutex)
{
    free(mutex);
}

enum os_status os_mutex_lock(struct os_mutex *mutex)
{
    AcquireSRWLockExclusive(&mutex->native);
    return OS_OK;
}

enum os_status os_mutex_unlock(struct os_mutex *mutex)
{
    ReleaseSRWLockExclusive(&mutex->native);
    return OS_OK;
}

/* ---- Read-write lock ---------------------------------------------------- */

struct os_rw_lock {
    SRWLOCK native;
    bool is_written; /* by whoever holds it; nobody reads then */
};

enum os_status os_rw_lock_create(struct os_rw_lock **lock)
{
    *lock = calloc(1, sizeof **lock);
    return *lock != NULL ? OS_OK : OS_NO_MEMORY;
}

void os_rw_lock_destroy(struct os_rw_lock *lock)
{
    free(lock);
}

enum os_status os_rw_lock_read(struct os_rw_lock *lock)
{
    AcquireSRWLockShared(&lock->native);
    return OS_OK;
}

enum os_status os_rw_lock_write(struct os_rw_lock *lock)
{
    AcquireSRWLockExclusive(&lock->native);
    lock->is_written = true;
    return OS_OK;
}

enum os_status os_rw_lock_release(struct os_rw_lock *lock)
{
    if (lock->is_written) {
        lock->is_written = false;
        ReleaseSRWLockExclusive(&lock->native);
    } else {
        ReleaseSRWLockShared(&lock->native);
    }
    return OS_OK;
}

/* ---- Condition ---------------------------------------------------------- */

struct os_condition {
    CONDITION_VARIABLE native;
};

enum os_status os_condition_create(struct os_condition **condition)
{
    *condition = calloc(1, sizeof **condition); /* CONDITION_VARIABLE_INIT is zero */
    return *condition != NULL ? OS_OK : OS_NO_MEMORY;
}

void os_condition_destroy(struct os_condition *condition)
{
    free(condition);
}

enum os_status os_condition_wait(struct os_condition *condition, struct os_mutex *mutex)
{
    return SleepConditionVariableSRW(&condition->native, &mutex->native, INFINITE, 0) ? OS_OK : win32_status(GetLastError());
}

enum os_status os_condition_signal(struct os_condition *condition)
{
    WakeConditionVariable(&condition->native);
    return OS_OK;
}

/* ---- Semaphore ---------------------------------------------------------- */

struct os_semaphore {
    HANDLE native;
};

enum os_status os_semaphore_create(struct os_semaphore **semaphore, uint32_t initial)
{
    struct os_semaphore *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    made->native = CreateSemaphoreW(NULL, (LONG)initial, MAXLONG, NULL);
    if (made->native == NULL) {
        free(made);
        return win32_status(GetLastError());
    }
    *semaphore = made;
    return OS_OK;
}

void os_semaphore_destroy(struct os_semaphore *semaphore)
{
    if (semaphore != NULL) {
        CloseHandle(semaphore->native);
        free(semaphore);
    }
}

enum os_status os_semaphore_post(struct os_semaphore *semaphore)
{
    return ReleaseSemaphore(semaphore->native, 1, NULL) ? OS_OK : win32_status(GetLastError());
}

enum os_status os_semaphore_wait(struct os_semaphore *semaphore)
{
    return WaitForSingleObject(semaphore->native, INFINITE) == WAIT_OBJECT_0 ? OS_OK : win32_status(GetLastError());
}

/* In whole milliseconds, which may be over early: the measuring clock decides. */
enum os_status os_semaphore_wait_for(struct os_semaphore *semaphore, int64_t timeout_ns)
{
    const int64_t end_ns = os_now_ns() + timeout_ns;
    DWORD ended = WaitForSingleObject(semaphore->native, 0);
    for (int64_t left_ns = timeout_ns; ended == WAIT_TIMEOUT && left_ns > 0; left_ns = end_ns - os_now_ns()) {
        const int64_t left_ms = (left_ns + NS_PER_MS - 1) / NS_PER_MS;
        ended = WaitForSingleObject(semaphore->native, left_ms < LONGEST_SLICE_MS ? (DWORD)left_ms : (DWORD)LONGEST_SLICE_MS);
    }
    return ended == WAIT_OBJECT_0 ? OS_OK : ended == WAIT_TIMEOUT ? OS_TIMED_OUT : win32_status(GetLastError());
}

/* ---- The barrier's bed -------------------------------------------------- */

enum os_status barrier_bed_make(struct barrier_bed **bed)
{
    *bed = NULL; /* the address that they wait on is the round's own */
    return OS_OK;
}

void barrier_bed_unmake(struct barrier_bed *bed)
{
    (void)bed;
}

void barrier_bed_sleep(struct barrier_bed *bed, atomic_uint *round, unsigned seen)
{
    (void)bed;
    while (atomic_load(round) == seen) {
        (void)WaitOnAddress(round, &seen, sizeof seen, INFINITE);
    }
}

void barrier_bed_wake(struct barrier_bed *bed, atomic_uint *round)
{
    (void)bed;
    WakeByAddressAll(round);
}
