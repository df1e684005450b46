#include "experiment/rhealstone_tasks.h"

void preemption_high(struct stage *stage)
{
    struct meeting *const meeting = stage->context;
    struct pair *const pair = &meeting->pair;
    pair_begin(pair, stage);
    for (bool goes_on = true; goes_on;) {
        const struct asking asking = pair_ask(pair);
        os_semaphore_wait(meeting->semaphore);
        const int64_t after_ns = os_now_ns();
        goes_on = pair_take(pair, stage, &asking, after_ns);
        os_semaphore_post(pair->taken);
    }
}

void preemption_low(struct stage *stage)
{
    struct meeting *const meeting = stage->context;
    struct pair *const pair = &meeting->pair;
    bool goes_on = true;
    for (int64_t i = 0; goes_on; i++) {
        pair_give_turn(pair);
        pair_stamp(pair);
        os_semaphore_post(meeting->semaphore);
        goes_on = pair_wait_taken(pair);
        pair_rest(i);
    }
}

void shuffle_blocked(struct stage *stage)
{
    struct meeting *const meeting = stage->context;
    struct pair *const pair = &meeting->pair;
    pair_begin(pair, stage);
    for (bool goes_on = true; goes_on;) {
        const struct asking asking = pair_ask(pair);
        os_semaphore_wait(meeting->semaphore);
        const int64_t after_ns = os_now_ns();
        os_semaphore_post(meeting->semaphore);
        goes_on = pair_take(pair, stage, &asking, after_ns);
        os_semaphore_post(pair->taken);
    }
}

/* On one CPU the owner yields so that the other gets to ask, and again so that it gets to run: they are equals. */
void shuffle_owner(struct stage *stage)
{
    struct meeting *const meeting = stage->context;
    struct pair *const pair = &meeting->pair;
    bool goes_on = true;
    for (int64_t i = 0; goes_on; i++) {
        os_semaphore_wait(meeting->semaphore);
        pair_give_turn(pair);
        os_yield();
        pair_stamp(pair);
        os_semaphore_post(meeting->semaphore);
        os_yield();
        goes_on = pair_wait_taken(pair);
        pair_rest(i);
    }
}
