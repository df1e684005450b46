/* What only wakes, as Linux alone has it: eventfd(2), futex(2). */
#define _GNU_SOURCE /* syscall */
#include "os/posix/channel_kinds.h"

#include "futex.h"
#include "os/posix/status.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- eventfd ---- */

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

const struct os_channel_kind channel_eventfd = {
    .name = "eventfd",
    .what = "eventfd: write and read",
    .size = sizeof(struct channel_ends),
    .open = event_open,
    .close = channel_ends_close,
};

/* ---- futex ---- */

struct channel_of_futex {
    struct os_channel base;
    _Atomic uint32_t sent;
};

static enum os_status futex_send(struct os_channel *channel)
{
    struct channel_of_futex *const futex = (struct channel_of_futex *)channel;
    atomic_store_explicit(&futex->sent, 1, memory_order_release);
    return futex_wake(&futex->sent, 1) >= 0 ? OS_OK : channel_failure(errno);
}

static enum os_status futex_receive(struct os_channel *channel)
{
    struct channel_of_futex *const futex = (struct channel_of_futex *)channel;
    while (atomic_exchange_explicit(&futex->sent, 0, memory_order_acquire) == 0) {
        if (futex_wait(&futex->sent, 0) != 0 && errno != EAGAIN) {
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

static void nothing_to_close(struct os_channel *channel)
{
    (void)channel;
}

const struct os_channel_kind channel_futex = {
    .name = "futex",
    .what = "bare futex: FUTEX_WAKE and FUTEX_WAIT",
    .size = sizeof(struct channel_of_futex),
    .open = futex_open,
    .close = nothing_to_close,
};
