/* Read-write locks: pthread_rwlock_init(3p). */
#include "status.h"

#include <pthread.h>
#include <stdlib.h>

struct os_rw_lock {
    pthread_rwlock_t native;
};

enum os_status os_rw_lock_create(struct os_rw_lock **lock)
{
    struct os_rw_lock *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    const int error = pthread_rwlock_init(&made->native, NULL);
    if (error != 0) {
        free(made);
        return os_status_from_errno(error);
    }
    *lock = made;
    return OS_OK;
}

void os_rw_lock_destroy(struct os_rw_lock *lock)
{
    if (lock != NULL) {
        pthread_rwlock_destroy(&lock->native);
        free(lock);
    }
}

enum os_status os_rw_lock_read(struct os_rw_lock *lock)
{
    return os_status_from_errno(pthread_rwlock_rdlock(&lock->native));
}

enum os_status os_rw_lock_write(struct os_rw_lock *lock)
{
    return os_status_from_errno(pthread_rwlock_wrlock(&lock->native));
}

enum os_status os_rw_lock_release(struct os_rw_lock *lock)
{
    return os_status_from_errno(pthread_rwlock_unlock(&lock->native));
}
