#include "experiment/inversion_locks.h"

/* ---- Semaphore: one post is the right to enter ---------------------------- */

static enum os_status semaphore_create(struct lock *lock)
{
    return os_semaphore_create(&lock->semaphore, 1);
}

static enum os_status semaphore_acquire(struct lock *lock)
{
    return os_semaphore_wait(lock->semaphore);
}

static enum os_status semaphore_release(struct lock *lock)
{
    return os_semaphore_post(lock->semaphore);
}

/* ---- Mutex, with each protocol -------------------------------------------- */

static enum os_status mutex_create(struct lock *lock)
{
    return os_mutex_create(&lock->mutex, OS_MUTEX_NONE, 0);
}

static enum os_status mutex_create_inherit(struct lock *lock)
{
    return os_mutex_create(&lock->mutex, OS_MUTEX_INHERIT, 0);
}

static enum os_status mutex_create_protect(struct lock *lock)
{
    return os_mutex_create(&lock->mutex, OS_MUTEX_PROTECT, lock->ceiling_below_highest);
}

static enum os_status mutex_acquire(struct lock *lock)
{
    return os_mutex_lock(lock->mutex);
}

static enum os_status mutex_release(struct lock *lock)
{
    return os_mutex_unlock(lock->mutex);
}

/* ---- Spin lock, with the patience of its waiter --------------------------- */

static enum os_status spin_create(struct lock *lock)
{
    return os_spin_lock_create(&lock->spin);
}

static enum os_status spin_acquire(struct lock *lock)
{
    return os_spin_lock_acquire(lock->spin, lock->patience_ns);
}

static enum os_status spin_release(struct lock *lock)
{
    return os_spin_lock_release(lock->spin);
}

/* ---- Read-write lock: a writer waits for a writer, or for a reader -------- */

static enum os_status rw_create(struct lock *lock)
{
    return os_rw_lock_create(&lock->rw);
}

static enum os_status rw_read(struct lock *lock)
{
    return os_rw_lock_read(lock->rw);
}

static enum os_status rw_write(struct lock *lock)
{
    return os_rw_lock_write(lock->rw);
}

static enum os_status rw_release(struct lock *lock)
{
    return os_rw_lock_release(lock->rw);
}

/* ---- Condition variable: a flag, and a wait for it to fall ---------------- */

/* The mutex is held for a moment only, and inherits where that exists: what the row shows is the condition's doing. */
static enum os_status flag_create(struct lock *lock)
{
    enum os_status status = mutex_create_inherit(lock);
    if (status == OS_UNSUPPORTED) {
        status = mutex_create(lock);
    }
    return status == OS_OK ? os_condition_create(&lock->lowered) : status;
}

static enum os_status flag_acquire(struct lock *lock)
{
    enum os_status status = os_mutex_lock(lock->mutex);
    if (status != OS_OK) {
        return status;
    }
    while (lock->raised && status == OS_OK) {
        status = os_condition_wait(lock->lowered, lock->mutex);
    }
    lock->raised = true; /* after a failed wait the run ends */
    const enum os_status unlocked = os_mutex_unlock(lock->mutex);
    return status != OS_OK ? status : unlocked;
}

static enum os_status flag_release(struct lock *lock)
{
    const enum os_status locked = os_mutex_lock(lock->mutex);
    if (locked != OS_OK) {
        return locked;
    }
    lock->raised = false;
    const enum os_status signalled = os_condition_signal(lock->lowered);
    const enum os_status unlocked = os_mutex_unlock(lock->mutex);
    return signalled != OS_OK ? signalled : unlocked;
}

/* ---- FIFO and message queue: who has the token may enter ------------------ */

static const char token = 'T';

static enum os_status fifo_release(struct lock *lock)
{
    return os_fifo_write(lock->fifo, &token, sizeof token);
}

static enum os_status fifo_create(struct lock *lock)
{
    const enum os_status status = os_fifo_create(&lock->fifo);
    return status == OS_OK ? fifo_release(lock) : status;
}

static enum os_status fifo_acquire(struct lock *lock)
{
    char taken = 0;
    return os_fifo_read(lock->fifo, &taken, sizeof taken);
}

static enum os_status queue_release(struct lock *lock)
{
    return os_message_queue_send(lock->queue, &token, sizeof token);
}

static enum os_status queue_create(struct lock *lock)
{
    const enum os_status status = os_message_queue_create(&lock->queue, 1, sizeof token);
    return status == OS_OK ? queue_release(lock) : status;
}

static enum os_status queue_acquire(struct lock *lock)
{
    char taken = 0;
    return os_message_queue_receive(lock->queue, &taken, NULL);
}

/* ---- All of them ---------------------------------------------------------- */

const struct lock_kind lock_kinds[LOCK_KINDS] = {
    {.name = "semaphore",
     .what = "binary semaphore",
     .service = OS_SERVICE_SEMAPHORE,
     .create = semaphore_create,
     .hold = semaphore_acquire,
     .acquire = semaphore_acquire,
     .release = semaphore_release},
    {.name = "plain mutex",
     .what = "mutex without protocol",
     .service = OS_SERVICE_MUTEX,
     .create = mutex_create,
     .hold = mutex_acquire,
     .acquire = mutex_acquire,
     .release = mutex_release},
    {.name = "inheriting mutex",
     .what = "mutex with priority inheritance",
     .service = OS_SERVICE_MUTEX_INHERIT,
     .create = mutex_create_inherit,
     .hold = mutex_acquire,
     .acquire = mutex_acquire,
     .release = mutex_release},
    {.name = "ceiling mutex",
     .what = "mutex with priority ceiling",
     .service = OS_SERVICE_MUTEX_PROTECT,
     .create = mutex_create_protect,
     .hold = mutex_acquire,
     .acquire = mutex_acquire,
     .release = mutex_release},
    {.name = "spin lock",
     .what = "spin lock, tried for at most --patience",
     .service = OS_SERVICE_SPIN_LOCK,
     .create = spin_create,
     .hold = spin_acquire,
     .acquire = spin_acquire,
     .release = spin_release},
    {.name = "rwlock (writer)",
     .what = "read-write lock, a writer waits for a writer",
     .service = OS_SERVICE_RW_LOCK,
     .create = rw_create,
     .hold = rw_write,
     .acquire = rw_write,
     .release = rw_release},
    {.name = "rwlock (reader)",
     .what = "read-write lock, a writer waits for a reader",
     .service = OS_SERVICE_RW_LOCK,
     .create = rw_create,
     .hold = rw_read,
     .acquire = rw_write,
     .release = rw_release},
    {.name = "condition variable",
     .what = "flag with its mutex and a condition variable",
     .service = OS_SERVICE_CONDITION,
     .create = flag_create,
     .hold = flag_acquire,
     .acquire = flag_acquire,
     .release = flag_release},
    {.name = "fifo",
     .what = "FIFO that holds one token",
     .service = OS_SERVICE_FIFO,
     .create = fifo_create,
     .hold = fifo_acquire,
     .acquire = fifo_acquire,
     .release = fifo_release},
    {.name = "message queue",
     .what = "message queue that holds one token",
     .service = OS_SERVICE_MESSAGE_QUEUE,
     .create = queue_create,
     .hold = queue_acquire,
     .acquire = queue_acquire,
     .release = queue_release},
};

void lock_destroy(struct lock *lock)
{
    os_semaphore_destroy(lock->semaphore);
    os_condition_destroy(lock->lowered);
    os_mutex_destroy(lock->mutex);
    os_spin_lock_destroy(lock->spin);
    os_rw_lock_destroy(lock->rw);
    os_fifo_destroy(lock->fifo);
    os_message_queue_destroy(lock->queue);
}
