/* The servants of a server: who they are, what has been asked of them, and which thread serves each. */
#ifndef TAUTO_SERVANT_H
#define TAUTO_SERVANT_H

#include "transport.h"

#include "experiment/rest.h"
#include "record/ring.h"

#include <stdatomic.h>

/* What is known of the thread that serves. Written by it when it takes over, read by the control connection. */
struct serving_thread {
    int64_t number; /* the system's own; 0: nobody has served yet */
    struct os_thread_obtained obtained;
};

struct servant {
    uint32_t number;
    struct os_thread_attributes attributes;
    int64_t service_time_ns;
    struct os_mutex *guard; /* of `thread` */
    struct serving_thread thread;
    _Atomic(const char *) failure;
    /* On a line of their own: written with every request. */
    _Alignas(CACHE_LINE_BYTES) _Atomic uint64_t two_way;
    _Atomic uint64_t one_way;
    struct rest rest;
};

/* `service_time_ns`: how long each request keeps the servant busy asleep, as an application's work would; 0: not at
 * all. `budget_ns`: the watchdog's. */
enum os_status servant_begin(struct servant *servant, uint32_t number, const struct os_thread_attributes *attributes,
                             int64_t service_time_ns, int64_t budget_ns);
void servant_end(struct servant *servant);
/* For any thread. */
struct serving_thread servant_thread(struct servant *servant);

#endif
