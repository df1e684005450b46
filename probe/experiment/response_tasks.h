/* The two tasks of a row of the experiment `response`, and what they share. */
#ifndef TAUTO_RESPONSE_TASKS_H
#define TAUTO_RESPONSE_TASKS_H

#include "experiment/response_options.h"
#include "experiment/stage.h"

enum response_column { BEFORE, AFTER, RECEIVED, ANSWERED, REPETITION, SCHEDULED, RESPONSE_COLUMNS };

struct exchange {
    const struct response_options *options;
    const struct os_channel_kind *kind;
    struct os_semaphore *renewed; /* by task 1: new channels are there, or it is over */
    struct os_semaphore *bound;   /* by task 2: it will receive from them */
    struct os_semaphore *left;    /* by task 2: it uses them no more */
    struct os_channel *there;     /* NULL while there are none */
    struct os_channel *back;
    bool over;
    uint64_t lost; /* messages that got no answer in time */

    _Alignas(CACHE_LINE_BYTES) _Atomic int64_t received_ns; /* task 2 writes */
    _Alignas(CACHE_LINE_BYTES) _Atomic bool closing;        /* task 1 writes; the next message is the last */
};

/* The stage's context is a struct exchange; actors[0] is task 1 and actors[1] task 2. */
void response_task_1(struct stage *stage);
void response_task_2(struct stage *stage);

#endif
