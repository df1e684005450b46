/* Locks: never two threads inside. */
#include "checks.h"

static void add_under(struct work *work, bool (*lock)(struct work *), bool (*unlock)(struct work *))
{
    for (int i = 0; i < CHECK_ROUNDS; i++) {
        expect(work, lock(work), "a lock was not given");
        work->shared++;
        expect(work, unlock(work), "a lock was not taken back");
    }
}

static void all_added(struct work *work)
{
    expect(work, work->shared == (int64_t)CHECK_THREADS * CHECK_ROUNDS, "two threads were inside one lock");
}

static bool lock_mutex(struct work *work)
{
    return os_mutex_lock(work->mutex) == OS_OK;
}

static bool unlock_mutex(struct work *work)
{
    return os_mutex_unlock(work->mutex) == OS_OK;
}

static void use_mutex(struct work *work)
{
    add_under(work, lock_mutex, unlock_mutex);
}

static enum os_status make_plain_mutex(struct work *work)
{
    return os_mutex_create(&work->mutex, OS_MUTEX_NONE, 0);
}

static enum os_status make_inheriting_mutex(struct work *work)
{
    return os_mutex_create(&work->mutex, OS_MUTEX_INHERIT, 0);
}

static enum os_status make_mutex_with_ceiling(struct work *work)
{
    return os_mutex_create(&work->mutex, OS_MUTEX_PROTECT, 0);
}

static bool lock_spinning(struct work *work)
{
    return os_spin_lock_acquire(work->spin_lock, patience_ns) == OS_OK;
}

static bool unlock_spinning(struct work *work)
{
    return os_spin_lock_release(work->spin_lock) == OS_OK;
}

static void use_spin_lock(struct work *work)
{
    add_under(work, lock_spinning, unlock_spinning);
}

static enum os_status make_spin_lock(struct work *work)
{
    return os_spin_lock_create(&work->spin_lock);
}

static bool lock_for_writing(struct work *work)
{
    return os_rw_lock_write(work->rw_lock) == OS_OK;
}

static bool unlock_rw(struct work *work)
{
    return os_rw_lock_release(work->rw_lock) == OS_OK;
}

static void use_rw_lock(struct work *work)
{
    add_under(work, lock_for_writing, unlock_rw);
}

static enum os_status make_rw_lock(struct work *work)
{
    return os_rw_lock_create(&work->rw_lock);
}

const struct check checks_of_locks[] = {
    {"mutex", OS_SERVICE_MUTEX, CHECK_THREADS, use_mutex, make_plain_mutex, NULL, all_added},
    {"mutex with inheritance", OS_SERVICE_MUTEX_INHERIT, CHECK_THREADS, use_mutex, make_inheriting_mutex, NULL, all_added},
    {"mutex with a ceiling", OS_SERVICE_MUTEX_PROTECT, CHECK_THREADS, use_mutex, make_mutex_with_ceiling, NULL, all_added},
    {"spin lock", OS_SERVICE_SPIN_LOCK, CHECK_THREADS, use_spin_lock, make_spin_lock, NULL, all_added},
    {"read-write lock", OS_SERVICE_RW_LOCK, CHECK_THREADS, use_rw_lock, make_rw_lock, NULL, all_added},
    {0},
};
