/* Messages go by copy: the sender's bytes into the system, and from there into bytes of the receiver's own. Each bears
 * its number, and the receiver looks at it. */
#include "experiment/rhealstone_tasks.h"

#include <string.h>

enum { TRY_AGAIN_NS = 1000000 };

static void number_message(const struct meeting *meeting, int64_t number)
{
    memcpy(meeting->sent, &number, sizeof number);
}

static enum os_status check_message(const struct meeting *meeting, enum os_status status, size_t bytes, int64_t number)
{
    if (status != OS_OK) {
        return status;
    }
    int64_t received;
    memcpy(&received, meeting->received, sizeof received);
    return received == number && bytes == meeting->message_bytes ? OS_OK : OS_FAILED;
}

/* The receiver waits for this very message and can't be told otherwise, so a send that the system refused (memory that
 * is short) ends the run and is still tried until it is through. */
static void get_it_through(struct stage *stage, enum os_status status)
{
    struct meeting *const meeting = stage->context;
    while (status != OS_OK) {
        stage_fail(stage, status);
        os_sleep_until_and_read(os_now_ns() + TRY_AGAIN_NS);
        pair_stamp(&meeting->pair);
        status = os_message_queue_send(meeting->queue, meeting->sent, meeting->message_bytes);
    }
}

void message_receiver(struct stage *stage)
{
    struct meeting *const meeting = stage->context;
    struct pair *const pair = &meeting->pair;
    pair_begin(pair, stage);
    bool goes_on = true;
    for (int64_t number = 0; goes_on; number++) {
        const struct asking asking = pair_ask(pair);
        size_t bytes = 0;
        enum os_status status = os_message_queue_receive(meeting->queue, meeting->received, &bytes);
        const int64_t after_ns = os_now_ns();
        status = check_message(meeting, status, bytes, number);
        if (status != OS_OK) {
            stage_fail(stage, status);
        }
        goes_on = pair_take(pair, stage, &asking, after_ns);
        os_semaphore_post(pair->taken);
    }
}

void message_sender(struct stage *stage)
{
    struct meeting *const meeting = stage->context;
    struct pair *const pair = &meeting->pair;
    bool goes_on = true;
    for (int64_t number = 0; goes_on; number++) {
        number_message(meeting, number);
        pair_give_turn(pair);
        pair_stamp(pair);
        get_it_through(stage, os_message_queue_send(meeting->queue, meeting->sent, meeting->message_bytes));
        goes_on = pair_wait_taken(pair);
        pair_rest(number);
    }
}

/* On one CPU the receiver stands above the sender, so that it has the message when the send returns; across CPUs the
 * queue may hold a few, and a full one holds the sender up. */
void datagram_sender(struct stage *stage)
{
    struct meeting *const meeting = stage->context;
    struct pair *const pair = &meeting->pair;
    pair_begin(pair, stage);
    bool goes_on = true;
    for (int64_t number = 0; goes_on; number++) {
        number_message(meeting, number);
        const int64_t before_ns = os_now_ns();
        const enum os_status status = os_message_queue_send(meeting->queue, meeting->sent, meeting->message_bytes);
        const int64_t after_ns = os_now_ns();
        get_it_through(stage, status);
        const bool through = pair->apart || atomic_load_explicit(&meeting->taken, memory_order_acquire) == number + 1;
        goes_on = pair_take_row(pair, stage, through && status == OS_OK, before_ns, after_ns);
        pair_rest(number);
    }
    number_message(meeting, -1);
    get_it_through(stage, os_message_queue_send(meeting->queue, meeting->sent, meeting->message_bytes));
}

void datagram_receiver(struct stage *stage)
{
    struct meeting *const meeting = stage->context;
    for (int64_t number = 0;; number++) {
        size_t bytes = 0;
        enum os_status status = os_message_queue_receive(meeting->queue, meeting->received, &bytes);
        if (status != OS_OK) {
            stage_fail(stage, status);
            return;
        }
        int64_t end;
        memcpy(&end, meeting->received, sizeof end);
        if (end < 0) {
            return;
        }
        status = check_message(meeting, status, bytes, number);
        if (status != OS_OK) {
            stage_fail(stage, status); /* and goes on, so that the sender gets to its end */
        }
        atomic_store_explicit(&meeting->taken, number + 1, memory_order_release);
    }
}
