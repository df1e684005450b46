/*
 * The watchdog where the system has none: a thread of the highest priority sees whether one of ordinary priority still comes
 * to run. As long as that one does, the recorder sees by itself which thread never sleeps.
 */
#include "os/ordinary.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BEATS_OF_A_BUDGET = 8, EXIT_STARVED = 1 };

static atomic_llong budget;
static atomic_llong last_beat;

static void rest(void)
{
    (void)os_sleep_until(os_now_ns() + atomic_load(&budget) / BEATS_OF_A_BUDGET);
}

static void *beat(void *argument)
{
    for (;;) {
        atomic_store(&last_beat, os_now_ns());
        rest();
    }
    return argument;
}

static void *watch(void *argument)
{
    for (;;) {
        const int64_t silent_ns = os_now_ns() - atomic_load(&last_beat);
        if (silent_ns > 2 * atomic_load(&budget)) {
            _Exit(EXIT_STARVED);
        }
        if (silent_ns > atomic_load(&budget)) {
            os_stop_request(OS_STOP_WATCHDOG);
        }
        rest();
    }
    return argument;
}

/* A user who may not have that priority may not have one for measuring threads either. */
static void begin_watch(void)
{
    const struct sched_param highest = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) {
        return;
    }
    (void)pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    (void)pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    (void)pthread_attr_setschedparam(&attributes, &highest);
    if (pthread_create(&thread, &attributes, watch, NULL) == 0) {
        pthread_detach(thread);
    }
    pthread_attr_destroy(&attributes);
}

enum os_status os_watchdog_start(int64_t budget_ns, int64_t *obtained_ns)
{
    static bool begun;
    pthread_t thread;
    atomic_store(&budget, budget_ns);
    atomic_store(&last_beat, os_now_ns());
    *obtained_ns = budget_ns;
    if (!begun) {
        if (pthread_create(&thread, NULL, beat, NULL) != 0) {
            return OS_NO_MEMORY;
        }
        pthread_detach(thread);
        begin_watch();
        begun = true;
    }
    return OS_OK;
}
