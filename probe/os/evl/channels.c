/*
 * The channels of EVL: a semaphore, and a message with a mutex and an event of its own beside it. And the bed of the
 * barrier, where its waiters sleep.
 */
#include "lock.h"

#include "os/channel.h"
#include "os/posix/barrier_bed.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };

/* ---- semaphore ---- */

struct channel_of_semaphore {
    struct os_channel base;
    struct os_semaphore *posted;
};

static enum os_status semaphore_send(struct os_channel *channel)
{
    return os_semaphore_post(((struct channel_of_semaphore *)channel)->posted);
}

/* In steps: that a wait was interrupted is seen then. */
static enum os_status semaphore_receive(struct os_channel *channel)
{
    enum { A_SECOND_NS = 1000000000 };
    return os_semaphore_wait_for(((struct channel_of_semaphore *)channel)->posted, A_SECOND_NS);
}

static enum os_status semaphore_open(struct os_channel *channel, const char **why)
{
    (void)why;
    channel->send = semaphore_send;
    channel->receive = semaphore_receive;
    return os_semaphore_create(&((struct channel_of_semaphore *)channel)->posted, 0);
}

static void semaphore_close(struct os_channel *channel)
{
    os_semaphore_destroy(((struct channel_of_semaphore *)channel)->posted);
}

/* Who makes a channel is no thread of EVL's, and can't wait for it. */
static void bind_nobody(struct os_channel *channel)
{
    (void)channel;
}

static const struct os_channel_kind channel_semaphore = {
    .name = "semaphore",
    .what = "semaphore of EVL: evl_put_sem and evl_get_sem",
    .size = sizeof(struct channel_of_semaphore),
    .open = semaphore_open,
    .close = semaphore_close,
    .bind_receiver = bind_nobody,
};

/* ---- condition ---- */

struct channel_of_condition {
    struct os_channel base;
    struct os_mutex *mutex;
    struct os_condition *sent;
    unsigned char *message;
    bool full;
};

/* An event is signalled under its mutex. */
static enum os_status condition_send(struct os_channel *channel)
{
    struct channel_of_condition *const own = (struct channel_of_condition *)channel;
    enum os_status status = os_mutex_lock(own->mutex);
    if (status == OS_OK) {
        memcpy(own->message, channel->outgoing, channel->message_bytes);
        own->full = true;
        status = os_condition_signal(own->sent);
        os_mutex_unlock(own->mutex);
    }
    return status;
}

static enum os_status condition_receive(struct os_channel *channel)
{
    struct channel_of_condition *const own = (struct channel_of_condition *)channel;
    enum os_status status = os_mutex_lock(own->mutex);
    if (status != OS_OK) {
        return status;
    }
    while (!own->full && status == OS_OK) {
        status = os_condition_wait(own->sent, own->mutex);
    }
    if (status == OS_OK) {
        own->full = false;
        memcpy(channel->incoming, own->message, channel->message_bytes);
    }
    os_mutex_unlock(own->mutex);
    return status;
}

static enum os_status condition_open(struct os_channel *channel, const char **why)
{
    struct channel_of_condition *const own = (struct channel_of_condition *)channel;
    (void)why;
    channel->send = condition_send;
    channel->receive = condition_receive;
    own->message = calloc(1, channel->message_bytes);
    enum os_status status = own->message != NULL ? os_mutex_create(&own->mutex, OS_MUTEX_INHERIT, 0) : OS_NO_MEMORY;
    if (status == OS_OK) {
        status = os_condition_create(&own->sent);
    }
    return status;
}

static void condition_close(struct os_channel *channel)
{
    struct channel_of_condition *const own = (struct channel_of_condition *)channel;
    os_condition_destroy(own->sent);
    os_mutex_destroy(own->mutex);
    free(own->message);
}

static size_t most_bytes(const char **how_to_raise)
{
    *how_to_raise = "The probe has no more.";
    return MOST_BYTES;
}

static const struct os_channel_kind channel_condition = {
    .name = "condition",
    .what = "message in memory, mutex and event of EVL",
    .size = sizeof(struct channel_of_condition),
    .open = condition_open,
    .close = condition_close,
    .bind_receiver = bind_nobody,
    .most_bytes = most_bytes,
};

/* ---- and those of Linux, which are none of its real-time side ---- */

#define OF_LINUX(NAME, WHAT) \
    {.name = (NAME), .what = (WHAT), .leaves_realtime = "it is Linux's: who waits for it is switched in band"}

static const struct os_channel_kind fifo = OF_LINUX("fifo", "named FIFO: write and read");
static const struct os_channel_kind pipe_pair = OF_LINUX("pipe", "pipe: write and read");
static const struct os_channel_kind queue = OF_LINUX("message-queue", "POSIX message queue: mq_send and mq_receive");
static const struct os_channel_kind unix_pair = OF_LINUX("unix", "pair of Unix datagram sockets: send and recv");
static const struct os_channel_kind udp = OF_LINUX("udp", "UDP over the loopback: send and recv");
static const struct os_channel_kind eventfd_pair = OF_LINUX("eventfd", "eventfd: write and read");
static const struct os_channel_kind futex = OF_LINUX("futex", "bare futex: FUTEX_WAKE and FUTEX_WAIT");
static const struct os_channel_kind of_signal = OF_LINUX("signal", "signal to a thread: pthread_kill and sigwaitinfo");

const struct os_channel_kind *const os_channel_kinds[] = {
    &channel_semaphore, &fifo,  &pipe_pair, &queue,             &unix_pair, &udp,
    &eventfd_pair,      &futex, &of_signal, &channel_condition, NULL,
};

/* ---- where the waiters of a barrier sleep ---- */

struct barrier_bed {
    struct os_mutex *mutex;
    struct evl_event changed;
};

enum os_status barrier_bed_make(struct barrier_bed **bed)
{
    char name[48];
    struct barrier_bed *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    enum os_status status = os_mutex_create(&made->mutex, OS_MUTEX_INHERIT, 0);
    if (status == OS_OK) {
        evl_element_name(name, sizeof name);
        if (evl_create_event(&made->changed, EVL_CLOCK_MONOTONIC, EVL_CLONE_PRIVATE, "%s", name) < 0) {
            os_mutex_destroy(made->mutex);
            status = OS_FAILED;
        }
    }
    if (status != OS_OK) {
        free(made);
        return status;
    }
    *bed = made;
    return OS_OK;
}

void barrier_bed_unmake(struct barrier_bed *bed)
{
    if (bed != NULL) {
        (void)evl_close_event(&bed->changed);
        os_mutex_destroy(bed->mutex);
        free(bed);
    }
}

void barrier_bed_sleep(struct barrier_bed *bed, atomic_uint *round, unsigned seen)
{
    (void)os_mutex_lock(bed->mutex);
    while (atomic_load(round) == seen) {
        (void)evl_wait_event(&bed->changed, &bed->mutex->native);
    }
    (void)os_mutex_unlock(bed->mutex);
}

void barrier_bed_wake(struct barrier_bed *bed, atomic_uint *round)
{
    (void)round;
    (void)os_mutex_lock(bed->mutex); /* nobody is between the look and the sleep */
    (void)evl_broadcast_event(&bed->changed);
    (void)os_mutex_unlock(bed->mutex);
}
