#include "experiment/switch_mutex.h"

void handover_high(struct stage *stage)
{
    struct handover *const handover = stage->context;
    struct pair *const pair = &handover->pair;
    pair_begin(pair, stage);
    for (bool goes_on = true; goes_on;) {
        const struct asking asking = pair_ask(pair);
        const enum os_status locked = os_mutex_lock(handover->mutex);
        const int64_t after_ns = os_now_ns();
        const enum os_status unlocked = os_mutex_unlock(handover->mutex);
        if (locked != OS_OK || unlocked != OS_OK) {
            stage_fail(stage, locked != OS_OK ? locked : unlocked);
        }
        goes_on = pair_take(pair, stage, &asking, after_ns);
        os_semaphore_post(pair->taken);
    }
}

void handover_low(struct stage *stage)
{
    struct handover *const handover = stage->context;
    struct pair *const pair = &handover->pair;
    bool goes_on = true;
    for (int64_t i = 0; goes_on; i++) {
        const enum os_status locked = os_mutex_lock(handover->mutex);
        pair_give_turn(pair);
        pair_stamp(pair);
        const enum os_status unlocked = os_mutex_unlock(handover->mutex);
        if (locked != OS_OK || unlocked != OS_OK) {
            stage_fail(stage, locked != OS_OK ? locked : unlocked);
        }
        goes_on = pair_wait_taken(pair);
        pair_rest(i);
    }
}

void mutex_alone(struct stage *stage)
{
    struct handover *const handover = stage->context;
    struct pair *const pair = &handover->pair;
    pair_begin(pair, stage);
    bool goes_on = true;
    for (int64_t i = 0; goes_on; i++) {
        const int64_t before_ns = os_now_ns();
        const enum os_status locked = os_mutex_lock(handover->mutex);
        const enum os_status unlocked = os_mutex_unlock(handover->mutex);
        const int64_t after_ns = os_now_ns();
        if (locked != OS_OK || unlocked != OS_OK) {
            stage_fail(stage, locked != OS_OK ? locked : unlocked);
        }
        goes_on = pair_take_row(pair, stage, true, before_ns, after_ns);
        pair_rest(i);
    }
}

void clock_alone(struct stage *stage)
{
    struct handover *const handover = stage->context;
    pair_begin(&handover->pair, stage);
    bool goes_on = true;
    for (int64_t i = 0; goes_on; i++) {
        const int64_t before_ns = os_now_ns();
        const int64_t after_ns = os_now_ns();
        goes_on = pair_take_row(&handover->pair, stage, true, before_ns, after_ns);
        pair_rest(i);
    }
}
