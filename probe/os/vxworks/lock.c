/*
 * Mutexes, semaphores, conditions and queues of VxWorks' own: semMLib, semCLib, condVarLib, msgQLib. They wait in ticks of
 * the system clock. A wait for a semaphore ends where a signal comes, as in a real-time process only.
 */
#include "os/os.h"

#include <vxWorks.h> /* before all others of its headers */

#include <condVarLib.h>
#include <errno.h>
#include <msgQLib.h>
#include <objLib.h>
#include <semLib.h>
#include <stdlib.h>
#include <sysLib.h>

enum { NS_PER_S = 1000000000 };

struct os_mutex {
    SEM_ID native;
};
struct os_semaphore {
    SEM_ID native;
};
struct os_condition {
    CONDVAR_ID native;
};
struct os_message_queue {
    MSG_Q_ID native;
    size_t message_bytes;
};

static enum os_status outcome(STATUS status)
{
    return status == OK ? OS_OK : errno == S_objLib_OBJ_TIMEOUT ? OS_TIMED_OUT : errno == EINTR ? OS_INTERRUPTED : OS_FAILED;
}

/* ---- Mutexes ---- */

/* One of semMLib knows its owner, and hands on the priority of who waits where it is inversion-safe. */
enum os_status os_mutex_create(struct os_mutex **mutex, enum os_mutex_protocol protocol, int32_t ceiling_below_highest)
{
    (void)ceiling_below_highest;
    if (protocol == OS_MUTEX_PROTECT) {
        return OS_UNSUPPORTED;
    }
    const int options = protocol == OS_MUTEX_INHERIT ? SEM_Q_PRIORITY | SEM_INVERSION_SAFE : SEM_Q_PRIORITY;
    struct os_mutex *const made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->native = semMCreate(options);
    }
    if (made == NULL || made->native == SEM_ID_NULL) {
        free(made);
        return OS_NO_MEMORY;
    }
    *mutex = made;
    return OS_OK;
}

void os_mutex_destroy(struct os_mutex *mutex)
{
    if (mutex != NULL) {
        (void)semDelete(mutex->native);
        free(mutex);
    }
}

enum os_status os_mutex_lock(struct os_mutex *mutex)
{
    return outcome(semTake(mutex->native, WAIT_FOREVER));
}

enum os_status os_mutex_unlock(struct os_mutex *mutex)
{
    return outcome(semGive(mutex->native));
}

/* ---- Semaphores ---- */

enum os_status os_semaphore_create(struct os_semaphore **semaphore, uint32_t initial)
{
    struct os_semaphore *const made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->native = semCCreate(SEM_Q_PRIORITY | SEM_INTERRUPTIBLE, (int)initial);
    }
    if (made == NULL || made->native == SEM_ID_NULL) {
        free(made);
        return OS_NO_MEMORY;
    }
    *semaphore = made;
    return OS_OK;
}

void os_semaphore_destroy(struct os_semaphore *semaphore)
{
    if (semaphore != NULL) {
        (void)semDelete(semaphore->native);
        free(semaphore);
    }
}

enum os_status os_semaphore_post(struct os_semaphore *semaphore)
{
    return outcome(semGive(semaphore->native));
}

enum os_status os_semaphore_wait(struct os_semaphore *semaphore)
{
    enum os_status status = OS_INTERRUPTED;
    while (status == OS_INTERRUPTED) {
        status = outcome(semTake(semaphore->native, WAIT_FOREVER));
    }
    return status;
}

/* Until the time is over by the measuring clock: the tick under way counts as a whole one for semTake. */
enum os_status os_semaphore_wait_for(struct os_semaphore *semaphore, int64_t timeout_ns)
{
    const int64_t end_ns = os_now_ns() + timeout_ns;
    const int64_t tick_ns = NS_PER_S / sysClkRateGet();
    enum os_status status = OS_TIMED_OUT;
    for (int64_t left_ns = timeout_ns; left_ns > 0 && (status == OS_TIMED_OUT || status == OS_INTERRUPTED);
         left_ns = end_ns - os_now_ns()) {
        const int64_t ticks = left_ns / tick_ns + 1;
        status = outcome(semTake(semaphore->native, (_Vx_ticks_t)(ticks < INT32_MAX ? ticks : INT32_MAX)));
    }
    return status == OS_INTERRUPTED ? OS_TIMED_OUT : status;
}

/* ---- Conditions ---- */

enum os_status os_condition_create(struct os_condition **condition)
{
    struct os_condition *const made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->native = condVarCreate(CONDVAR_Q_PRIORITY);
    }
    if (made == NULL || made->native == CONDVAR_ID_NULL) {
        free(made);
        return OS_NO_MEMORY;
    }
    *condition = made;
    return OS_OK;
}

void os_condition_destroy(struct os_condition *condition)
{
    if (condition != NULL) {
        (void)condVarDelete(condition->native);
        free(condition);
    }
}

enum os_status os_condition_wait(struct os_condition *condition, struct os_mutex *mutex)
{
    return outcome(condVarWait(condition->native, mutex->native, WAIT_FOREVER));
}

enum os_status os_condition_signal(struct os_condition *condition)
{
    return outcome(condVarSignal(condition->native));
}

/* ---- Queues ---- */

enum os_status os_message_queue_create(struct os_message_queue **queue, size_t messages, size_t message_bytes)
{
    struct os_message_queue *const made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->message_bytes = message_bytes;
        made->native = msgQCreate(messages, message_bytes, MSG_Q_PRIORITY | MSG_Q_INTERRUPTIBLE);
    }
    if (made == NULL || made->native == MSG_Q_ID_NULL) {
        free(made);
        return OS_NO_MEMORY;
    }
    *queue = made;
    return OS_OK;
}

void os_message_queue_destroy(struct os_message_queue *queue)
{
    if (queue != NULL) {
        (void)msgQDelete(queue->native);
        free(queue);
    }
}

enum os_status os_message_queue_send(struct os_message_queue *queue, const void *data, size_t bytes)
{
    return outcome(msgQSend(queue->native, (char *)data, bytes, WAIT_FOREVER, MSG_PRI_NORMAL));
}

enum os_status os_message_queue_receive(struct os_message_queue *queue, void *data, size_t *received_bytes)
{
    const ssize_t got = msgQReceive(queue->native, data, queue->message_bytes, WAIT_FOREVER);
    if (got < 0) {
        return outcome(ERROR);
    }
    if (received_bytes != NULL) {
        *received_bytes = (size_t)got;
    }
    return OS_OK;
}
