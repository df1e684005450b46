/* Spin locks: pthread_spin_init(3). An option of POSIX that some systems leave out. */
#include "status.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#if defined _POSIX_SPIN_LOCKS && _POSIX_SPIN_LOCKS > 0

struct os_spin_lock {
    pthread_spinlock_t native;
};

enum os_status os_spin_lock_create(struct os_spin_lock **lock)
{
    struct os_spin_lock *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    const int error = pthread_spin_init(&made->native, PTHREAD_PROCESS_PRIVATE);
    if (error != 0) {
        free(made);
        return os_status_from_errno(error);
    }
    *lock = made;
    return OS_OK;
}

void os_spin_lock_destroy(struct os_spin_lock *lock)
{
    if (lock != NULL) {
        pthread_spin_destroy(&lock->native);
        free(lock);
    }
}

/* The clock is read only where the lock was not free at once. */
enum os_status os_spin_lock_acquire(struct os_spin_lock *lock, int64_t patience_ns)
{
    int error = pthread_spin_trylock(&lock->native);
    if (error != EBUSY) {
        return os_status_from_errno(error);
    }
    const int64_t give_up_ns = os_now_ns() + patience_ns;
    do {
        error = pthread_spin_trylock(&lock->native);
    } while (error == EBUSY && os_now_ns() < give_up_ns);
    return error == EBUSY ? OS_TIMED_OUT : os_status_from_errno(error);
}

enum os_status os_spin_lock_release(struct os_spin_lock *lock)
{
    return os_status_from_errno(pthread_spin_unlock(&lock->native));
}

#else

enum os_status os_spin_lock_create(struct os_spin_lock **lock)
{
    (void)lock;
    return OS_UNSUPPORTED;
}

void os_spin_lock_destroy(struct os_spin_lock *lock)
{
    (void)lock;
}

enum os_status os_spin_lock_acquire(struct os_spin_lock *lock, int64_t patience_ns)
{
    (void)lock;
    (void)patience_ns;
    return OS_UNSUPPORTED;
}

enum os_status os_spin_lock_release(struct os_spin_lock *lock)
{
    (void)lock;
    return OS_UNSUPPORTED;
}

#endif
