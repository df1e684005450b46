/* Mutexes and semaphores: pthread_mutex(3), sem_overview(7). */
#include "lock.h"
#include "status.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

enum { NS_PER_S = 1000000000, LONGEST_SLICE_NS = 50000000 };

struct os_semaphore {
    sem_t native;
};

static int set_protocol(pthread_mutexattr_t *attributes, enum os_mutex_protocol protocol,
                        int32_t ceiling_below_highest)
{
    switch (protocol) {
    case OS_MUTEX_INHERIT:
        return pthread_mutexattr_setprotocol(attributes, PTHREAD_PRIO_INHERIT);
    case OS_MUTEX_PROTECT:
#ifdef __GLIBC__
    {
        const int error = pthread_mutexattr_setprotocol(attributes, PTHREAD_PRIO_PROTECT);
        return error != 0 ? error
                          : pthread_mutexattr_setprioceiling(
                                attributes, (int)os_priority_to_native(OS_POLICY_FIFO, ceiling_below_highest));
    }
#else
        (void)ceiling_below_highest; /* musl has no priority ceiling */
        return ENOTSUP;
#endif
    case OS_MUTEX_NONE:
        break;
    }
    return pthread_mutexattr_setprotocol(attributes, PTHREAD_PRIO_NONE);
}

enum os_status os_mutex_create(struct os_mutex **mutex, enum os_mutex_protocol protocol,
                               int32_t ceiling_below_highest)
{
    struct os_mutex *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);
    if (error == 0) {
        error = set_protocol(&attributes, protocol, ceiling_below_highest);
        if (error == 0) {
            error = pthread_mutex_init(&made->native, &attributes);
        }
        pthread_mutexattr_destroy(&attributes);
    }
    if (error != 0) {
        free(made);
        return os_status_from_errno(error);
    }
    *mutex = made;
    return OS_OK;
}

void os_mutex_destroy(struct os_mutex *mutex)
{
    if (mutex != NULL) {
        pthread_mutex_destroy(&mutex->native);
        free(mutex);
    }
}

enum os_status os_mutex_lock(struct os_mutex *mutex)
{
    return os_status_from_errno(pthread_mutex_lock(&mutex->native));
}

enum os_status os_mutex_unlock(struct os_mutex *mutex)
{
    return os_status_from_errno(pthread_mutex_unlock(&mutex->native));
}

enum os_status os_semaphore_create(struct os_semaphore **semaphore, uint32_t initial)
{
    struct os_semaphore *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    if (sem_init(&made->native, 0, initial) != 0) {
        free(made);
        return os_status_from_errno(errno);
    }
    *semaphore = made;
    return OS_OK;
}

void os_semaphore_destroy(struct os_semaphore *semaphore)
{
    if (semaphore != NULL) {
        sem_destroy(&semaphore->native);
        free(semaphore);
    }
}

enum os_status os_semaphore_post(struct os_semaphore *semaphore)
{
    return sem_post(&semaphore->native) == 0 ? OS_OK : os_status_from_errno(errno);
}

enum os_status os_semaphore_wait(struct os_semaphore *semaphore)
{
    while (sem_wait(&semaphore->native) != 0) {
        if (errno != EINTR) {
            return os_status_from_errno(errno);
        }
    }
    return OS_OK;
}

static int wait_until_wall_clock(struct os_semaphore *semaphore, int64_t until_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S), .tv_nsec = (long)(until_ns % NS_PER_S)};
    return sem_timedwait(&semaphore->native, &until) == 0 ? 0 : errno;
}

/* sem_timedwait counts on the wall clock, which may step. So it waits in short slices, and the monotonic clock decides
 * when the time is over. */
enum os_status os_semaphore_wait_for(struct os_semaphore *semaphore, int64_t timeout_ns)
{
    const int64_t end_ns = os_now_ns() + timeout_ns;
    int error;
    int64_t left_ns = timeout_ns;
    do {
        const int64_t slice_ns = left_ns < LONGEST_SLICE_NS ? left_ns : LONGEST_SLICE_NS;
        error = wait_until_wall_clock(semaphore, os_wall_clock_ns() + slice_ns);
        left_ns = end_ns - os_now_ns();
    } while (error == EINTR || (error == ETIMEDOUT && left_ns > 0));
    return os_status_from_errno(error);
}
