/*
 * Channels of systems whose locks are not POSIX's: a semaphore, and a message with a mutex and a condition beside it, each
 * as os.h has it. And the bed of the barrier, where its waiters sleep.
 */
#include "channels.h"

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

/* Who makes a channel is no thread of the real-time side, and may not wait for it. */
void core_bind_nobody(struct os_channel *channel)
{
    (void)channel;
}

const struct os_channel_kind core_semaphore = {
    .name = "semaphore",
    .what = "semaphore of this system's own",
    .size = sizeof(struct channel_of_semaphore),
    .open = semaphore_open,
    .close = semaphore_close,
    .bind_receiver = core_bind_nobody,
};

/* ---- condition ---- */

struct channel_of_condition {
    struct os_channel base;
    struct os_mutex *mutex;
    struct os_condition *sent;
    unsigned char *message;
    bool full;
};

/* Signalled under its mutex, as EVL wants it. */
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

const struct os_channel_kind core_condition = {
    .name = "condition",
    .what = "message in memory, mutex and condition of this system's own",
    .size = sizeof(struct channel_of_condition),
    .open = condition_open,
    .close = condition_close,
    .bind_receiver = core_bind_nobody,
    .most_bytes = most_bytes,
};

/* ---- where the waiters of a barrier sleep ---- */

/* Two places to sleep in, for even and odd rounds: who is at the next round already must not take what wakes one of this. */
struct barrier_bed {
    struct os_mutex *mutex;
    struct place {
        struct os_condition *changed;
        unsigned asleep;
    } places[2];
};

enum os_status barrier_bed_make(struct barrier_bed **bed)
{
    struct barrier_bed *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    enum os_status status = os_mutex_create(&made->mutex, OS_MUTEX_INHERIT, 0);
    for (int i = 0; i < 2 && status == OS_OK; i++) {
        status = os_condition_create(&made->places[i].changed);
    }
    if (status != OS_OK) {
        barrier_bed_unmake(made);
        return status;
    }
    *bed = made;
    return OS_OK;
}

void barrier_bed_unmake(struct barrier_bed *bed)
{
    if (bed != NULL) {
        os_condition_destroy(bed->places[0].changed);
        os_condition_destroy(bed->places[1].changed);
        os_mutex_destroy(bed->mutex);
        free(bed);
    }
}

/* Each who wakes wakes the next one. */
static void pass_on(const struct place *place)
{
    if (place->asleep > 0) {
        (void)os_condition_signal(place->changed);
    }
}

void barrier_bed_sleep(struct barrier_bed *bed, atomic_uint *round, unsigned seen)
{
    struct place *const place = &bed->places[seen % 2];
    (void)os_mutex_lock(bed->mutex);
    while (atomic_load(round) == seen) {
        place->asleep++;
        (void)os_condition_wait(place->changed, bed->mutex);
        place->asleep--;
    }
    pass_on(place);
    (void)os_mutex_unlock(bed->mutex);
}

/* The round that has ended is the one before; the next can't end before this has returned. */
void barrier_bed_wake(struct barrier_bed *bed, atomic_uint *round)
{
    (void)os_mutex_lock(bed->mutex); /* nobody is between the look and the sleep */
    pass_on(&bed->places[(atomic_load(round) + 1) % 2]);
    (void)os_mutex_unlock(bed->mutex);
}
