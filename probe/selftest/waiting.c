/* Waiting for each other, and telling each other something. */
#include "checks.h"

static enum os_status make_semaphore(struct work *work)
{
    return os_semaphore_create(&work->semaphore, 1);
}

static void use_semaphore(struct work *work)
{
    expect(work, os_semaphore_wait(work->semaphore) == OS_OK, "a semaphore of 1 was not given");
    const int64_t begun_ns = os_now_ns();
    expect(work, os_semaphore_wait_for(work->semaphore, NS_PER_MS) == OS_TIMED_OUT, "a wait in vain did not time out");
    expect(work, os_now_ns() - begun_ns >= NS_PER_MS, "a wait timed out before its time");
    for (int i = 0; i < CHECK_ROUNDS; i++) {
        expect(work, os_semaphore_post(work->semaphore) == OS_OK, "a semaphore could not be posted");
    }
    for (int i = 0; i < CHECK_ROUNDS; i++) {
        expect(work, os_semaphore_wait_for(work->semaphore, patience_ns) == OS_OK, "a post was lost");
    }
    expect(work, os_semaphore_wait_for(work->semaphore, patience_ns) == OS_OK, "the ordinary side's post did not come");
}

static void post_from_outside(struct work *work, struct os_thread *const *threads)
{
    (void)threads;
    (void)os_sleep_until(os_now_ns() + a_while_ns);
    expect(work, os_semaphore_post(work->semaphore) == OS_OK, "the ordinary side could not post a semaphore");
}

static enum os_status make_condition(struct work *work)
{
    enum os_status status = os_mutex_create(&work->mutex, OS_MUTEX_INHERIT, 0);
    if (status == OS_UNSUPPORTED) {
        status = os_mutex_create(&work->mutex, OS_MUTEX_NONE, 0);
    }
    return status == OS_OK ? os_condition_create(&work->condition) : status;
}

/* Two threads; whose turn it is changes from one to the other. */
static void take_turns(struct work *work)
{
    const int64_t own = atomic_fetch_add(&work->seen, 1);
    expect(work, os_mutex_lock(work->mutex) == OS_OK, "a mutex was not given");
    for (int i = 0; i < CHECK_ROUNDS / 10; i++) {
        while (work->shared % 2 != own) {
            expect(work, os_condition_wait(work->condition, work->mutex) == OS_OK, "a wait for a condition failed");
        }
        work->shared++;
        expect(work, os_condition_signal(work->condition) == OS_OK, "a condition could not be signalled");
    }
    expect(work, os_mutex_unlock(work->mutex) == OS_OK, "a mutex was not taken back");
}

static void all_turns(struct work *work)
{
    expect(work, work->shared == 2 * (int64_t)(CHECK_ROUNDS / 10), "a turn was lost");
}

static enum os_status make_barrier(struct work *work)
{
    return os_barrier_create(&work->barrier, CHECK_THREADS, NS_PER_MS / 100);
}

static void meet(struct work *work)
{
    for (int64_t i = 1; i <= CHECK_ROUNDS / 4; i++) {
        atomic_fetch_add(&work->count, 1);
        if (os_barrier_meet(work->barrier)) {
            expect(work, atomic_load(&work->count) == i * CHECK_THREADS, "a barrier let threads meet that had not all come");
            os_barrier_open(work->barrier);
        }
    }
}

static enum os_status make_notice(struct work *work)
{
    return os_notice_create(&work->notice);
}

static void post_notices(struct work *work)
{
    for (int i = 0; i < 20; i++) {
        expect(work, os_notice_post(work->notice) == OS_OK, "a notice could not be posted");
    }
}

static void wait_for_notices(struct work *work, struct os_thread *const *threads)
{
    (void)threads;
    for (int i = 0; i < 20; i++) {
        expect(work, os_notice_wait_for(work->notice, patience_ns) == OS_OK, "a notice did not come to the ordinary side");
    }
    expect(work, os_notice_wait_for(work->notice, NS_PER_MS) == OS_TIMED_OUT, "a notice came that nobody had posted");
}

/* ---- Queues ---- */

static enum os_status make_fifo(struct work *work)
{
    return os_fifo_create(&work->fifo);
}

static enum os_status make_queue(struct work *work)
{
    return os_message_queue_create(&work->queue, 4, sizeof(int64_t));
}

/* Of two threads the first sends, the second receives. */
static void pass_numbers(struct work *work)
{
    const bool sends = atomic_fetch_add(&work->seen, 1) == 0;
    for (int64_t i = 0; i < CHECK_ROUNDS / 4; i++) {
        int64_t number = i;
        enum os_status status;
        if (work->fifo != NULL) {
            status = sends ? os_fifo_write(work->fifo, &number, sizeof number)
                           : os_fifo_read(work->fifo, &number, sizeof number);
        } else {
            size_t got = sizeof number;
            status = sends ? os_message_queue_send(work->queue, &number, sizeof number)
                           : os_message_queue_receive(work->queue, &number, &got);
            expect(work, got == sizeof number, "a message changed its size");
        }
        expect(work, status == OS_OK, "a message could not be sent or received");
        expect(work, number == i, "messages came in another order, or changed");
    }
}

void check_channel(struct work *work)
{
    struct os_channel *const channel = work->channel;
    if (atomic_fetch_add(&work->seen, 1) == 0) {
        os_channel_bind_receiver(channel);
        atomic_store(&work->ready, true);
        for (int i = 0; i < 100; i++) {
            expect(work, os_channel_receive(channel) == OS_OK, "nothing was received");
            atomic_fetch_add(&work->count, 1);
        }
        return;
    }
    while (!atomic_load(&work->ready)) {
        (void)os_sleep_until_and_read(os_now_ns() + NS_PER_MS);
    }
    for (int i = 0; i < 100; i++) {
        expect(work, os_channel_send(channel) == OS_OK, "nothing could be sent");
        while (atomic_load(&work->count) <= i && work->failure == NULL) {
            (void)os_sleep_until_and_read(os_now_ns() + NS_PER_MS / 20);
        }
    }
}

const struct check checks_of_waiting[] = {
    {"semaphore", OS_SERVICE_SEMAPHORE, 1, use_semaphore, make_semaphore, post_from_outside, NULL},
    {"condition", OS_SERVICE_CONDITION, 2, take_turns, make_condition, NULL, all_turns},
    {"barrier", OS_SERVICE_COUNT, CHECK_THREADS, meet, make_barrier, NULL, NULL},
    {"notice to the ordinary side", OS_SERVICE_COUNT, 1, post_notices, make_notice, wait_for_notices, NULL},
    {"FIFO", OS_SERVICE_FIFO, 2, pass_numbers, make_fifo, NULL, NULL},
    {"message queue", OS_SERVICE_MESSAGE_QUEUE, 2, pass_numbers, make_queue, NULL, NULL},
    {0},
};
