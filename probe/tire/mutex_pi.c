/* TIRE_MUTEX_PI: Algorithm 1 with locks whose holder inherits the priority of who waits. */
#include "tire/locked.h"
#include "tire/nodes.h"

static enum os_status create_mutex(void **lock)
{
    struct os_mutex *made = NULL;
    const enum os_status status = os_mutex_create(&made, OS_MUTEX_INHERIT, 0);
    *lock = made;
    return status;
}

static void destroy_mutex(void *lock)
{
    os_mutex_destroy(lock);
}

static void acquire(void *lock)
{
    os_mutex_lock(lock);
}

static void release(void *lock)
{
    os_mutex_unlock(lock);
}

static enum os_status create(struct tire *tire)
{
    static const struct tire_lock_kind mutexes = {
        .create = create_mutex, .destroy = destroy_mutex, .acquire = acquire, .release = release};
    return tire_locked_create(tire, &mutexes);
}

const struct tire_kind tire_kind_mutex_pi = {
    .name = "mutex-pi",
    .parallel = true,
    .create = create,
    .destroy = tire_locked_destroy,
    .step = tire_locked_step,
    .nodes_of = tire_locked_nodes_of,
    .get = tire_nodes_get,
    .put = tire_nodes_put,
};
