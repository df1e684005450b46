/* Mutexes, semaphores, conditions and queues of RTAI: rt_typed_sem_init, rt_typed_mbx_init. */
#include "os/os.h"

#include <rtai_lxrt.h>
#include <rtai_mbx.h>
#include <rtai_sem.h>
#include <stdlib.h>

struct os_mutex {
    SEM *native;
};
struct os_semaphore {
    SEM *native;
};
struct os_condition {
    CND *native;
};
struct os_message_queue {
    MBX *native;
    size_t message_bytes;
};

/* All of these are an address of RTAI's in memory of ours. */
static enum os_status keep(void **object, void *native, void (*forget)(void *))
{
    void **const made = native != NULL ? calloc(1, sizeof(struct os_message_queue)) : NULL;
    if (made == NULL) {
        if (native != NULL) {
            forget(native);
        }
        return OS_NO_MEMORY;
    }
    *made = native;
    *object = made;
    return OS_OK;
}

static void forget_semaphore(void *native)
{
    (void)rt_sem_delete(native);
}

static void forget_mailbox(void *native)
{
    (void)rt_mbx_delete(native);
}

static void release(void *object, void (*forget)(void *))
{
    if (object != NULL) {
        forget(*(void **)object);
        free(object);
    }
}

/* What a wait returns: a count, or one of the errors, which are the largest numbers. */
static enum os_status waited(int result)
{
    return result == RTE_TIMOUT ? OS_TIMED_OUT : result == RTE_UNBLKD ? OS_INTERRUPTED : result >= RTE_LOWERR ? OS_FAILED : OS_OK;
}

/* ---- Mutexes ---- */

/* One without inheritance is a binary semaphore. */
enum os_status os_mutex_create(struct os_mutex **mutex, enum os_mutex_protocol protocol, int32_t ceiling_below_highest)
{
    (void)ceiling_below_highest;
    if (protocol == OS_MUTEX_PROTECT) {
        return OS_UNSUPPORTED;
    }
    const int type = (protocol == OS_MUTEX_INHERIT ? RES_SEM : BIN_SEM) | PRIO_Q;
    return keep((void **)mutex, rt_typed_sem_init(rt_get_name(NULL), 1, type), forget_semaphore);
}

void os_mutex_destroy(struct os_mutex *mutex)
{
    release(mutex, forget_semaphore);
}

enum os_status os_mutex_lock(struct os_mutex *mutex)
{
    return waited(rt_sem_wait(mutex->native));
}

enum os_status os_mutex_unlock(struct os_mutex *mutex)
{
    return waited(rt_sem_signal(mutex->native));
}

/* ---- Semaphores ---- */

enum os_status os_semaphore_create(struct os_semaphore **semaphore, uint32_t initial)
{
    return keep((void **)semaphore, rt_typed_sem_init(rt_get_name(NULL), (int)initial, CNT_SEM | PRIO_Q), forget_semaphore);
}

void os_semaphore_destroy(struct os_semaphore *semaphore)
{
    release(semaphore, forget_semaphore);
}

enum os_status os_semaphore_post(struct os_semaphore *semaphore)
{
    return waited(rt_sem_signal(semaphore->native));
}

enum os_status os_semaphore_wait(struct os_semaphore *semaphore)
{
    enum os_status status = OS_INTERRUPTED;
    while (status == OS_INTERRUPTED) {
        status = waited(rt_sem_wait(semaphore->native));
    }
    return status;
}

enum os_status os_semaphore_wait_for(struct os_semaphore *semaphore, int64_t timeout_ns)
{
    const RTIME end = nano2count(os_now_ns() + timeout_ns);
    enum os_status status = OS_INTERRUPTED;
    while (status == OS_INTERRUPTED && os_stop_requested() == OS_STOP_NONE) {
        status = waited(rt_sem_wait_until(semaphore->native, end));
    }
    return status;
}

/* ---- Conditions ---- */

enum os_status os_condition_create(struct os_condition **condition)
{
    return keep((void **)condition, rt_typed_sem_init(rt_get_name(NULL), 0, BIN_SEM | PRIO_Q), forget_semaphore);
}

void os_condition_destroy(struct os_condition *condition)
{
    release(condition, forget_semaphore);
}

enum os_status os_condition_wait(struct os_condition *condition, struct os_mutex *mutex)
{
    return waited(rt_cond_wait(condition->native, mutex->native));
}

enum os_status os_condition_signal(struct os_condition *condition)
{
    return waited(rt_cond_signal(condition->native));
}

/* ---- Queues: a mailbox is a stream of bytes, which whole messages of one size pass through ---- */

enum os_status os_message_queue_create(struct os_message_queue **queue, size_t messages, size_t message_bytes)
{
    const enum os_status status =
        keep((void **)queue, rt_typed_mbx_init(rt_get_name(NULL), (int)(messages * message_bytes), PRIO_Q), forget_mailbox);
    if (status == OS_OK) {
        (*queue)->message_bytes = message_bytes;
    }
    return status;
}

void os_message_queue_destroy(struct os_message_queue *queue)
{
    release(queue, forget_mailbox);
}

/* It returns how many bytes did not go through. */
enum os_status os_message_queue_send(struct os_message_queue *queue, const void *data, size_t bytes)
{
    if (bytes != queue->message_bytes) {
        return OS_INVALID;
    }
    return rt_mbx_send(queue->native, (void *)data, (int)bytes) == 0 ? OS_OK : OS_FAILED;
}

enum os_status os_message_queue_receive(struct os_message_queue *queue, void *data, size_t *received_bytes)
{
    if (rt_mbx_receive(queue->native, data, (int)queue->message_bytes) != 0) {
        return OS_FAILED;
    }
    if (received_bytes != NULL) {
        *received_bytes = queue->message_bytes;
    }
    return OS_OK;
}
