/* What only wakes: sem_overview(7), eventfd(2), futex(2), sigwaitinfo(2). */
#define _GNU_SOURCE /* syscall */
#include "channel_kinds.h"

#include "status.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/eventfd.h>
#include <sys/syscall.h>
#ifndef SYS_futex
#define SYS_futex SYS_futex_time64 /* 32-bit systems that never had another */
#endif
/* linux/futex.h, which is not where every C library looks */
enum { WAIT_PRIVATE = 0 | 128, WAKE_PRIVATE = 1 | 128 };
#endif

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

const struct channel_kind channel_semaphore = {
    .name = "semaphore",
    .what = "unnamed POSIX semaphore: sem_post and sem_wait",
    .size = sizeof(struct channel_of_semaphore),
    .open = semaphore_open,
    .close = semaphore_close,
};

/* ---- eventfd ---- */

#ifdef __linux__

static enum os_status event_send(struct os_channel *channel)
{
    const uint64_t one = 1;
    return write(((struct channel_ends *)channel)->out, &one, sizeof one) >= 0 ? OS_OK : channel_failure(errno);
}

static enum os_status event_receive(struct os_channel *channel)
{
    uint64_t count;
    return read(((struct channel_ends *)channel)->in, &count, sizeof count) >= 0 ? OS_OK : channel_failure(errno);
}

static enum os_status event_open(struct os_channel *channel, const char **why)
{
    struct channel_ends *const ends = (struct channel_ends *)channel;
    (void)why;
    channel->send = event_send;
    channel->receive = event_receive;
    ends->in = ends->out = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    return ends->in >= 0 ? OS_OK : os_status_from_errno(errno);
}

/* ---- futex ---- */

struct channel_of_futex {
    struct os_channel base;
    _Atomic uint32_t sent;
};

static enum os_status futex_send(struct os_channel *channel)
{
    struct channel_of_futex *const futex = (struct channel_of_futex *)channel;
    atomic_store_explicit(&futex->sent, 1, memory_order_release);
    return syscall(SYS_futex, &futex->sent, WAKE_PRIVATE, 1, NULL, NULL, 0) >= 0 ? OS_OK : channel_failure(errno);
}

static enum os_status futex_receive(struct os_channel *channel)
{
    struct channel_of_futex *const futex = (struct channel_of_futex *)channel;
    while (atomic_exchange_explicit(&futex->sent, 0, memory_order_acquire) == 0) {
        if (syscall(SYS_futex, &futex->sent, WAIT_PRIVATE, 0, NULL, NULL, 0) != 0 && errno != EAGAIN) {
            return channel_failure(errno);
        }
    }
    return OS_OK;
}

static enum os_status futex_open(struct os_channel *channel, const char **why)
{
    (void)why;
    channel->send = futex_send;
    channel->receive = futex_receive;
    return OS_OK;
}

#else

static enum os_status event_open(struct os_channel *channel, const char **why)
{
    ((struct channel_ends *)channel)->in = ((struct channel_ends *)channel)->out = -1;
    *why = "only Linux has eventfd";
    return OS_UNSUPPORTED;
}

struct channel_of_futex {
    struct os_channel base;
};

static enum os_status futex_open(struct os_channel *channel, const char **why)
{
    (void)channel;
    *why = "only Linux has futex(2)";
    return OS_UNSUPPORTED;
}

#endif

const struct channel_kind channel_eventfd = {
    .name = "eventfd",
    .what = "eventfd: write and read",
    .size = sizeof(struct channel_ends),
    .open = event_open,
    .close = channel_ends_close,
};
const struct channel_kind channel_futex = {
    .name = "futex",
    .what = "bare futex: FUTEX_WAKE and FUTEX_WAIT",
    .size = sizeof(struct channel_of_futex),
    .open = futex_open,
    .close = nothing_to_close,
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

/* SIGUSR1 ends a wait early (os_thread_interrupt). It is awaited too, because some C libraries go on waiting after the
 * handler of another signal ran. */
static enum os_status signal_open(struct os_channel *channel, const char **why)
{
    struct channel_of_signal *const waits = (struct channel_of_signal *)channel;
    (void)why;
    channel->send = signal_send;
    channel->receive = signal_receive;
    sigemptyset(&waits->awaited);
    sigaddset(&waits->awaited, SIGUSR1);
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

const struct channel_kind channel_signal = {
    .name = "signal",
    .what = "signal to a thread: pthread_kill and sigwaitinfo",
    .size = sizeof(struct channel_of_signal),
    .open = signal_open,
    .close = nothing_to_close,
    .bind_receiver = signal_bind_receiver,
};
