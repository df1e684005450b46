#include "servant.h"

#include "os/identity.h"

const struct os_thread_attributes *servant_attributes(const struct servant *servant)
{
    return &servant->attributes;
}

uint32_t servant_number(const struct servant *servant)
{
    return servant->number;
}

enum os_status servant_begin(struct servant *servant, uint32_t number, const struct os_thread_attributes *attributes,
                             int64_t service_time_ns, int64_t budget_ns)
{
    *servant = (struct servant){.number = number,
                                .attributes = *attributes,
                                .service_time_ns = service_time_ns,
                                .rest = rest_of(attributes->policy, budget_ns)};
    return os_mutex_create(&servant->guard, OS_MUTEX_NONE, 0);
}

void servant_end(struct servant *servant)
{
    os_mutex_destroy(servant->guard);
}

void servant_is_served_here(struct servant *servant)
{
    struct serving_thread thread = {.number = os_thread_number()};
    os_thread_read_back(&thread.obtained);
    os_mutex_lock(servant->guard);
    servant->thread = thread;
    os_mutex_unlock(servant->guard);
}

struct serving_thread servant_thread(struct servant *servant)
{
    os_mutex_lock(servant->guard);
    const struct serving_thread thread = servant->thread;
    os_mutex_unlock(servant->guard);
    return thread;
}

/* Only the serving thread writes: no read-modify-write is needed. */
static void count(_Atomic uint64_t *counter)
{
    const uint64_t so_far = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, so_far + 1, memory_order_release);
}

void servant_handle(struct servant *servant, struct value *value, bool one_way)
{
    if (value->kind == VALUE_TIMED) {
        value->arrived_ns = os_now_ns();
    }
    if (servant->service_time_ns > 0) {
        os_sleep_until(os_now_ns() + servant->service_time_ns);
    }
    value_cube(value);
    count(one_way ? &servant->one_way : &servant->two_way);
}

void servant_rest_when_due(struct servant *servant)
{
    rest_when_due(&servant->rest);
}

void servant_fail(struct servant *servant, const char *why)
{
    const char *none = NULL;
    atomic_compare_exchange_strong(&servant->failure, &none, why);
}
