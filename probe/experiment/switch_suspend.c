#include "experiment/switch_suspend.h"

static const int64_t look_again_ns = 1000000;

/* Between the two readings the other one ran and suspended itself again: two switches, one resume, one suspend. */
void suspend_low(struct stage *stage)
{
    struct suspension *const own = stage->context;
    struct os_thread *const high = stage->actors[1].thread;
    pair_begin(&own->pair, stage);
    os_semaphore_wait(own->pair.turn); /* it is about to suspend itself */
    bool goes_on = true;
    for (int64_t i = 0; goes_on; i++) {
        const uint64_t resumed = atomic_load(&own->resumed);
        const int64_t before_ns = os_now_ns();
        const enum os_status status = os_thread_resume(high);
        const int64_t after_ns = os_now_ns();
        if (status != OS_OK) {
            stage_fail(stage, status);
        }
        goes_on = pair_take_row(&own->pair, stage, atomic_load(&own->resumed) == resumed + 1, before_ns, after_ns);
        pair_rest(i);
    }
    while (!atomic_load(&own->left)) {
        (void)os_thread_resume(high);
        (void)os_sleep_until_and_read(os_now_ns() + look_again_ns);
    }
}

void suspend_high(struct stage *stage)
{
    struct suspension *const own = stage->context;
    enum os_status status = OS_OK;
    os_semaphore_post(own->pair.turn);
    while (!atomic_load(&own->pair.over) && status == OS_OK) {
        status = os_thread_suspend(stage->actors[1].thread);
        atomic_fetch_add(&own->resumed, 1);
    }
    if (status != OS_OK) {
        stage_fail(stage, status);
    }
    atomic_store(&own->left, true);
}

void suspend_alone(struct stage *stage)
{
    struct suspension *const own = stage->context;
    struct os_thread *const idle = stage->actors[1].thread;
    pair_begin(&own->pair, stage);
    bool goes_on = true;
    for (int64_t i = 0; goes_on; i++) {
        const int64_t before_ns = os_now_ns();
        const enum os_status suspended = os_thread_suspend(idle);
        const enum os_status resumed = os_thread_resume(idle);
        const int64_t after_ns = os_now_ns();
        if (suspended != OS_OK || resumed != OS_OK) {
            stage_fail(stage, suspended != OS_OK ? suspended : resumed);
        }
        goes_on = pair_take_row(&own->pair, stage, true, before_ns, after_ns);
        pair_rest(i);
    }
    os_semaphore_post(own->pair.taken);
}

void suspend_idle(struct stage *stage)
{
    (void)os_semaphore_wait(((struct suspension *)stage->context)->pair.taken);
}
