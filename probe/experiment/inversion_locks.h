/*
 * What people use as a lock, each behind the same calls, so that the experiment treats all alike and nothing has to be
 * decided between its readings of the clock.
 */
#ifndef TAUTO_INVERSION_LOCKS_H
#define TAUTO_INVERSION_LOCKS_H

#include "os/os.h"

/* One lock, of whichever kind: only its own parts are there. */
struct lock {
    int32_t ceiling_below_highest; /* priority of the most urgent one who takes it, for a mutex with a ceiling */
    int64_t patience_ns;           /* longest wait, where who waits keeps the CPU */

    struct os_semaphore *semaphore;
    struct os_mutex *mutex;
    struct os_spin_lock *spin;
    struct os_rw_lock *rw;
    struct os_condition *lowered;
    bool raised; /* guarded by the mutex; `lowered` tells of its fall */
    struct os_fifo *fifo;
    struct os_message_queue *queue;
};

struct lock_kind {
    const char *name;
    const char *what; /* in words, for people */
    enum os_service service;

    enum os_status (*create)(struct lock *lock);
    enum os_status (*hold)(struct lock *lock);    /* as the one who has it first takes it */
    enum os_status (*acquire)(struct lock *lock); /* as the one who waits takes it. OS_TIMED_OUT: it gave up */
    enum os_status (*release)(struct lock *lock);
};

enum { LOCK_KINDS = 10 };
extern const struct lock_kind lock_kinds[LOCK_KINDS];

/* Frees the parts that are there. */
void lock_destroy(struct lock *lock);

#endif
