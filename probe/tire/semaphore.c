/* TIRE_SEMAPHORE: Algorithm 1 as it was published. */
#include "tire/locked.h"
#include "tire/nodes.h"

static enum os_status create_semaphore(void **lock)
{
    struct os_semaphore *made = NULL;
    const enum os_status status = os_semaphore_create(&made, 1);
    *lock = made;
    return status;
}

static void destroy_semaphore(void *lock)
{
    os_semaphore_destroy(lock);
}

static void acquire(void *lock)
{
    os_semaphore_wait(lock);
}

static void release(void *lock)
{
    os_semaphore_post(lock);
}

static enum os_status create(struct tire *tire)
{
    static const struct tire_lock_kind semaphores = {
        .create = create_semaphore, .destroy = destroy_semaphore, .acquire = acquire, .release = release};
    return tire_locked_create(tire, &semaphores);
}

const struct tire_kind tire_kind_semaphore = {
    .name = "semaphore",
    .parallel = true,
    .create = create,
    .destroy = tire_locked_destroy,
    .step = tire_locked_step,
    .nodes_of = tire_locked_nodes_of,
    .get = tire_nodes_get,
    .put = tire_nodes_put,
};
