/* What only wakes, on every POSIX system: sem_overview(7), sigwaitinfo(2). */
#include "channel_kinds.h"

#include "interruption.h"
#include "status.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

static void nothing_to_close(struct os_channel *channel)
{
    (void)channel;
}

/* ---- semaphore ---- */

struct channel_of_semaphore {
    struct os_channel base;
    sem_t native;
};

static enum os_status semaphore_send(struct os_channel *channel)
{
    return sem_post(&((struct channel_of_semaphore *)channel)->native) == 0 ? OS_OK : channel_failure(errno);
}

static enum os_status semaphore_receive(struct os_channel *channel)
{
    return sem_wait(&((struct channel_of_semaphore *)channel)->native) == 0 ? OS_OK : channel_failure(errno);
}

static enum os_status semaphore_open(struct os_channel *channel, const char **why)
{
    (void)why;
    channel->send = semaphore_send;
    channel->receive = semaphore_receive;
    return sem_init(&((struct channel_of_semaphore *)channel)->native, 0, 0) == 0 ? OS_OK
                                                                                  : os_status_from_errno(errno);
}

static void semaphore_close(struct os_channel *channel)
{
    sem_destroy(&((struct channel_of_semaphore *)channel)->native);
}

const struct os_channel_kind channel_semaphore = {
    .name = "semaphore",
    .what = "unnamed POSIX semaphore: sem_post and sem_wait",
    .size = sizeof(struct channel_of_semaphore),
    .open = semaphore_open,
    .close = semaphore_close,
};

/* ---- signal ---- */

struct channel_of_signal {
    struct os_channel base;
    pthread_t receiver;
    sigset_t awaited;
};

static enum os_status signal_send(struct os_channel *channel)
{
    return os_status_from_errno(pthread_kill(((struct channel_of_signal *)channel)->receiver, SIGUSR2));
}

static enum os_status signal_receive(struct os_channel *channel)
{
    const int got = sigwaitinfo(&((struct channel_of_signal *)channel)->awaited, NULL);
    return got == SIGUSR2 ? OS_OK : channel_failure(got < 0 ? errno : EINTR);
}

/* INTERRUPTION ends a wait early (os_thread_interrupt). It is awaited too, because some C libraries go on waiting after the
 * handler of another signal ran. */
static enum os_status signal_open(struct os_channel *channel, const char **why)
{
    struct channel_of_signal *const waits = (struct channel_of_signal *)channel;
    (void)why;
    channel->send = signal_send;
    channel->receive = signal_receive;
    sigemptyset(&waits->awaited);
    sigaddset(&waits->awaited, INTERRUPTION);
    sigaddset(&waits->awaited, SIGUSR2);
    return OS_OK;
}

/* What an earlier channel's sender sent last may still be pending: it belongs to the thread, not to the channel. */
static void signal_bind_receiver(struct os_channel *channel)
{
    static const struct timespec at_once = {0};
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    while (sigtimedwait(&blocked, NULL, &at_once) == SIGUSR2) {
    }
    ((struct channel_of_signal *)channel)->receiver = pthread_self();
}

const struct os_channel_kind channel_signal = {
    .name = "signal",
    .what = "signal to a thread: pthread_kill and sigwaitinfo",
    .size = sizeof(struct channel_of_signal),
    .open = signal_open,
    .close = nothing_to_close,
    .bind_receiver = signal_bind_receiver,
};
