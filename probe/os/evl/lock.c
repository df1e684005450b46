/* Mutexes, semaphores and conditions of EVL: its elements of these names. */
#include "lock.h"

#include "format.h"
#include "os/posix/status.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, NAME_BYTES = 48 };

struct os_semaphore {
    struct evl_sem native;
};

struct os_condition {
    struct evl_event native;
};

void evl_element_name(char *name, size_t bytes)
{
    static atomic_uint serial;
    format_text(name, bytes, "tauto-%ld:%u", (long)getpid(), atomic_fetch_add(&serial, 1U));
}

/* ---- Mutexes: they inherit, or have a ceiling ---- */

enum os_status os_mutex_create(struct os_mutex **mutex, enum os_mutex_protocol protocol, int32_t ceiling_below_highest)
{
    if (protocol == OS_MUTEX_NONE) {
        return OS_UNSUPPORTED;
    }
    char name[NAME_BYTES];
    struct os_mutex *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    const int64_t ceiling =
        protocol == OS_MUTEX_PROTECT ? os_priority_to_native(OS_POLICY_FIFO, ceiling_below_highest) : 0;
    evl_element_name(name, sizeof name);
    const int element = evl_create_mutex(&made->native, EVL_CLOCK_MONOTONIC, (unsigned)ceiling,
                                         EVL_MUTEX_NORMAL | EVL_CLONE_PRIVATE, "%s", name);
    if (element < 0) {
        free(made);
        return os_status_from_errno(-element);
    }
    *mutex = made;
    return OS_OK;
}

void os_mutex_destroy(struct os_mutex *mutex)
{
    if (mutex != NULL) {
        (void)evl_close_mutex(&mutex->native);
        free(mutex);
    }
}

enum os_status os_mutex_lock(struct os_mutex *mutex)
{
    return os_status_from_errno(-evl_lock_mutex(&mutex->native));
}

enum os_status os_mutex_unlock(struct os_mutex *mutex)
{
    return os_status_from_errno(-evl_unlock_mutex(&mutex->native));
}

/* ---- Semaphores ---- */

enum os_status os_semaphore_create(struct os_semaphore **semaphore, uint32_t initial)
{
    char name[NAME_BYTES];
    struct os_semaphore *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    evl_element_name(name, sizeof name);
    const int element =
        evl_create_sem(&made->native, EVL_CLOCK_MONOTONIC, (int)initial, EVL_CLONE_PRIVATE, "%s", name);
    if (element < 0) {
        free(made);
        return os_status_from_errno(-element);
    }
    *semaphore = made;
    return OS_OK;
}

void os_semaphore_destroy(struct os_semaphore *semaphore)
{
    if (semaphore != NULL) {
        (void)evl_close_sem(&semaphore->native);
        free(semaphore);
    }
}

enum os_status os_semaphore_post(struct os_semaphore *semaphore)
{
    return os_status_from_errno(-evl_put_sem(&semaphore->native));
}

enum os_status os_semaphore_wait(struct os_semaphore *semaphore)
{
    int error = -EINTR;
    while (error == -EINTR) {
        error = evl_get_sem(&semaphore->native);
    }
    return os_status_from_errno(-error);
}

enum os_status os_semaphore_wait_for(struct os_semaphore *semaphore, int64_t timeout_ns)
{
    const int64_t end_ns = os_now_ns() + timeout_ns;
    const struct timespec end = {.tv_sec = (time_t)(end_ns / NS_PER_S), .tv_nsec = (long)(end_ns % NS_PER_S)};
    int error = -EINTR;
    while (error == -EINTR) {
        error = evl_timedget_sem(&semaphore->native, &end);
    }
    return os_status_from_errno(-error);
}

/* ---- Conditions ---- */

enum os_status os_condition_create(struct os_condition **condition)
{
    char name[NAME_BYTES];
    struct os_condition *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    evl_element_name(name, sizeof name);
    const int element =
        evl_create_event(&made->native, EVL_CLOCK_MONOTONIC, EVL_CLONE_PRIVATE, "%s", name);
    if (element < 0) {
        free(made);
        return os_status_from_errno(-element);
    }
    *condition = made;
    return OS_OK;
}

void os_condition_destroy(struct os_condition *condition)
{
    if (condition != NULL) {
        (void)evl_close_event(&condition->native);
        free(condition);
    }
}

enum os_status os_condition_wait(struct os_condition *condition, struct os_mutex *mutex)
{
    return os_status_from_errno(-evl_wait_event(&condition->native, &mutex->native));
}

enum os_status os_condition_signal(struct os_condition *condition)
{
    return os_status_from_errno(-evl_signal_event(&condition->native));
}
