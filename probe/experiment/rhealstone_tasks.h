/*
 * The tasks of the Rhealstone components (Kar and Porter, Rhealstone: a real-time benchmarking proposal, Dr. Dobb's
 * Journal, February 1989; refined by Kar, Implementing the Rhealstone real-time benchmark, April 1990). The task switch
 * is the yield of pairs.h.
 */
#ifndef TAUTO_RHEALSTONE_TASKS_H
#define TAUTO_RHEALSTONE_TASKS_H

#include "experiment/pairs.h"

enum { MESSAGE_BYTES_LEAST = 8, MESSAGE_BYTES_MOST = 65536, MESSAGES_QUEUED = 8 };

/* The context of a stage; the first member is the pair. What a component does not need stays NULL. */
struct meeting {
    struct pair pair;
    struct os_semaphore *semaphore; /* preemption: what the high task waits for; shuffle: what passes */

    /* Deadlock breaking. */
    struct os_mutex *mutex;
    struct os_semaphore *wake_middle;
    struct os_semaphore *wake_high;
    _Alignas(CACHE_LINE_BYTES) _Atomic int64_t releases; /* how often the low task was about to release */
    _Atomic int64_t acquired;                            /* how often the high task got it */

    /* Messages. */
    struct os_message_queue *queue;
    size_t message_bytes;
    unsigned char *sent;     /* the sender's own copy */
    unsigned char *received; /* the receiver's */
    _Atomic int64_t taken;   /* how many the receiver of a throughput row has */
};

/* Preemption: a running low task makes a high one ready, which takes the CPU. */
void preemption_high(struct stage *stage); /* measures */
void preemption_low(struct stage *stage);

/* Semaphore shuffle: a semaphore passes between tasks of equal priority, from its release to its being had. */
void shuffle_blocked(struct stage *stage); /* measures */
void shuffle_owner(struct stage *stage);

/* Deadlock breaking: high asks for the mutex that low holds, while middle keeps low from running. From the request to
 * having it. */
void deadlock_high(struct stage *stage); /* measures */
void deadlock_middle(struct stage *stage);
void deadlock_low(struct stage *stage);

/* Message latency: from just before the send to the copy in the receiver's hands. */
void message_receiver(struct stage *stage); /* measures */
void message_sender(struct stage *stage);

/* Datagram throughput: how long each message keeps the sender, with a receiver that takes them as they come. */
void datagram_sender(struct stage *stage); /* measures */
void datagram_receiver(struct stage *stage);

#endif
