/* What a check of the selftest is; each file of checks has a table of them. */
#ifndef TAUTO_SELFTEST_CHECKS_H
#define TAUTO_SELFTEST_CHECKS_H

#include "os/channel.h"
#include "os/os.h"

#include <stdatomic.h>

enum { CHECK_ROUNDS = 2000, CHECK_THREADS = 3, NS_PER_MS = 1000000 };
static const int64_t patience_ns = 10000000000; /* for what has to come */
static const int64_t a_while_ns = 50000000;     /* for what must not come */

/* What a thread of a check works on. Real-time threads write, the ordinary side reads when they are done. */
struct work {
    void (*act)(struct work *work);
    struct os_mutex *mutex;
    struct os_semaphore *semaphore;
    struct os_spin_lock *spin_lock;
    struct os_rw_lock *rw_lock;
    struct os_condition *condition;
    struct os_barrier *barrier;
    struct os_fifo *fifo;
    struct os_message_queue *queue;
    struct os_notice *notice;
    struct os_channel *channel;
    _Atomic(const char *) failure; /* the first one */
    int64_t shared;
    atomic_int_fast64_t seen;
    atomic_int_fast64_t count;
    atomic_bool ready;
    atomic_bool ends;
    atomic_uint done; /* threads that came to their end */
};

struct check {
    const char *name;
    enum os_service service; /* OS_SERVICE_COUNT: every system has it */
    uint32_t threads;
    void (*act)(struct work *work); /* in each thread */
    /* On the ordinary side: makes what the threads need; while they run; and what is true behind. NULL: nothing. */
    enum os_status (*make)(struct work *work);
    void (*meanwhile)(struct work *work, struct os_thread *const *threads);
    void (*judge)(struct work *work);
};

/* Each ends with a check without a name. */
extern const struct check checks_of_threads[];
extern const struct check checks_of_locks[];
extern const struct check checks_of_waiting[];

/* In two threads: the one receives what the other sends. */
void check_channel(struct work *work);

/* The first reason of a check to fail stays. */
static inline void fail(struct work *work, const char *why)
{
    const char *none = NULL;
    (void)atomic_compare_exchange_strong(&work->failure, &none, why);
}

static inline void expect(struct work *work, bool is_so, const char *otherwise)
{
    if (!is_so) {
        fail(work, otherwise);
    }
}

#endif
