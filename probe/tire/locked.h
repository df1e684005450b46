/* Algorithm 1 of garre2014 with any lock: what TIRE_SEMAPHORE and TIRE_MUTEX_PI share. */
#ifndef TAUTO_TIRE_LOCKED_H
#define TAUTO_TIRE_LOCKED_H

#include "tire/kinds.h"

struct tire_lock_kind {
    enum os_status (*create)(void **lock);
    void (*destroy)(void *lock);
    void (*acquire)(void *lock);
    void (*release)(void *lock);
};

enum os_status tire_locked_create(struct tire *tire, const struct tire_lock_kind *locks);
void tire_locked_destroy(struct tire *tire);
void tire_locked_step(struct tire *tire, uint32_t thread, unsigned from, struct tire_stamps *stamps);
int64_t tire_locked_nodes_of(const struct tire *tire, uint32_t thread);

#endif
