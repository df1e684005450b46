/* A message in shared memory, with a mutex and a condition variable beside it as two processes would use them:
 * pthread_mutexattr_setpshared(3), pthread_cond_wait(3). */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "channel_kinds.h"

#include "status.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_BYTES = 1 << 20 };

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t sent;
    bool full;
    unsigned char message[];
};

struct channel_of_condition {
    struct os_channel base;
    struct shared *shared;
    size_t shared_bytes;
    bool ready;
};

/* The condition is signalled after the mutex is free: a more urgent receiver on the same CPU would otherwise wake only
 * to wait for the mutex. */
static enum os_status condition_send(struct os_channel *channel)
{
    struct shared *const shared = ((struct channel_of_condition *)channel)->shared;
    int error = pthread_mutex_lock(&shared->mutex);
    if (error == 0) {
        memcpy(shared->message, channel->outgoing, channel->message_bytes);
        shared->full = true;
        pthread_mutex_unlock(&shared->mutex);
        error = pthread_cond_signal(&shared->sent);
    }
    return os_status_from_errno(error);
}

static enum os_status condition_receive(struct os_channel *channel)
{
    struct shared *const shared = ((struct channel_of_condition *)channel)->shared;
    int error = pthread_mutex_lock(&shared->mutex);
    if (error != 0) {
        return os_status_from_errno(error);
    }
    while (!shared->full && error == 0) {
        error = pthread_cond_wait(&shared->sent, &shared->mutex);
    }
    shared->full = false;
    memcpy(channel->incoming, shared->message, channel->message_bytes);
    pthread_mutex_unlock(&shared->mutex);
    return os_status_from_errno(error);
}

/* With priority inheritance, as a real-time program has it; without where the C library has none. */
static int make_mutex(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);
    if (error == 0) {
        error = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        (void)pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        if (error == 0) {
            error = pthread_mutex_init(mutex, &attributes);
        }
        pthread_mutexattr_destroy(&attributes);
    }
    return error;
}

static int make_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    int error = pthread_condattr_init(&attributes);
    if (error == 0) {
        error = pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        if (error == 0) {
            error = pthread_cond_init(condition, &attributes);
        }
        pthread_condattr_destroy(&attributes);
    }
    return error;
}

static enum os_status condition_open(struct os_channel *channel, const char **why)
{
    struct channel_of_condition *const condition = (struct channel_of_condition *)channel;
    (void)why;
    condition->shared_bytes = sizeof(struct shared) + channel->message_bytes;
    void *const memory =
        mmap(NULL, condition->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return os_status_from_errno(errno);
    }
    memset(memory, 0, condition->shared_bytes); /* touches every page */
    condition->shared = memory;
    int error = make_mutex(&condition->shared->mutex);
    if (error == 0) {
        error = make_condition(&condition->shared->sent);
        if (error != 0) {
            pthread_mutex_destroy(&condition->shared->mutex);
        }
    }
    condition->ready = error == 0;
    channel->send = condition_send;
    channel->receive = condition_receive;
    return os_status_from_errno(error);
}

static void condition_close(struct os_channel *channel)
{
    struct channel_of_condition *const condition = (struct channel_of_condition *)channel;
    if (condition->ready) {
        pthread_cond_destroy(&condition->shared->sent);
        pthread_mutex_destroy(&condition->shared->mutex);
    }
    if (condition->shared != NULL) {
        munmap(condition->shared, condition->shared_bytes);
    }
}

static size_t most_bytes(const char **how_to_raise)
{
    *how_to_raise = "The probe has no more.";
    return MOST_BYTES;
}

const struct os_channel_kind channel_condition = {
    .name = "condition",
    .what = "message in shared memory, mutex and condition variable",
    .size = sizeof(struct channel_of_condition),
    .open = condition_open,
    .close = condition_close,
    .most_bytes = most_bytes,
};
