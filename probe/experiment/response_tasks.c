#include "experiment/response_tasks.h"

#include "experiment/schedule.h"

/* Back to back, task 1 rests after each round, so that both CPUs have time for others. */
enum { ROUND = 64, REST_NS = 1000000, PATIENCE_NS = 100000000 };

/* Between the stamps lie the calls and the readings themselves. */
static enum os_status exchange_once(struct stage *stage, struct exchange *exchange, int64_t *row)
{
    struct os_channel *const there = exchange->there;
    struct os_channel *const back = exchange->back;
    row[BEFORE] = os_now_ns();
    enum os_status status = os_channel_send(there);
    row[AFTER] = os_now_ns();
    if (status != OS_OK) {
        return status;
    }
    do {
        status = os_channel_receive(back);
    } while (status == OS_INTERRUPTED && !stage_stopping(stage));
    row[ANSWERED] = os_now_ns();
    row[RECEIVED] = atomic_load_explicit(&exchange->received_ns, memory_order_acquire);
    return status;
}

static void serve(struct stage *stage, struct exchange *exchange)
{
    struct os_channel *const there = exchange->there;
    struct os_channel *const back = exchange->back;
    do {
        enum os_status status = os_channel_receive(there);
        const int64_t received_ns = os_now_ns();
        if (status == OS_OK) {
            atomic_store_explicit(&exchange->received_ns, received_ns, memory_order_release);
            status = os_channel_send(back);
        }
        if (status != OS_OK && status != OS_INTERRUPTED && status != OS_TIMED_OUT) {
            stage_fail(stage, status);
            return;
        }
    } while (!atomic_load_explicit(&exchange->closing, memory_order_acquire));
}

void response_task_2(struct stage *stage)
{
    struct exchange *const exchange = stage->context;
    for (;;) {
        os_semaphore_wait(exchange->renewed);
        if (exchange->over) {
            return;
        }
        os_channel_bind_receiver(exchange->there);
        os_semaphore_post(exchange->bound);
        serve(stage, exchange);
        os_semaphore_post(exchange->left);
    }
}

/* Task 2 leaves with one more message; where that got lost, or task 2 failed, it is woken until it has left. */
static void close_channels(struct stage *stage, struct exchange *exchange)
{
    if (exchange->there == NULL) {
        return;
    }
    atomic_store_explicit(&exchange->closing, true, memory_order_release);
    (void)os_channel_send(exchange->there);
    while (os_semaphore_wait_for(exchange->left, PATIENCE_NS) == OS_TIMED_OUT) {
        os_thread_interrupt(stage->actors[1].thread);
    }
    os_thread_go_ordinary();
    os_channel_destroy(exchange->there);
    os_channel_destroy(exchange->back);
    os_thread_go_realtime();
    exchange->there = NULL;
    exchange->back = NULL;
}

static enum os_status make_channels(struct exchange *exchange)
{
    const size_t bytes = (size_t)exchange->options->bytes;
    const char *why = "";
    os_thread_go_ordinary();
    enum os_status status = os_channel_create(&exchange->there, exchange->kind, bytes, &why);
    if (status == OS_OK) {
        status = os_channel_create(&exchange->back, exchange->kind, bytes, &why);
        if (status != OS_OK) {
            os_channel_destroy(exchange->there);
            exchange->there = NULL;
        }
    }
    os_thread_go_realtime();
    return status;
}

static bool open_channels(struct stage *stage, struct exchange *exchange)
{
    const enum os_status status = make_channels(exchange);
    if (status != OS_OK) {
        stage_fail(stage, status);
        return false;
    }
    atomic_store_explicit(&exchange->closing, false, memory_order_release);
    os_channel_bind_receiver(exchange->back);
    os_semaphore_post(exchange->renewed);
    os_semaphore_wait(exchange->bound);
    return true;
}

/* What became of an exchange. */
enum outcome { EXCHANGED, LOST, ENDED };

static enum outcome outcome_of(struct stage *stage, struct exchange *exchange, enum os_status status)
{
    switch (status) {
    case OS_OK:
        return EXCHANGED;
    case OS_TIMED_OUT:
        exchange->lost++;
        return LOST;
    default:
        if (status != OS_INTERRUPTED) {
            stage_fail(stage, status);
        }
        return ENDED;
    }
}

static enum outcome warm_up(struct stage *stage, struct exchange *exchange, int64_t count)
{
    enum outcome outcome = EXCHANGED;
    for (int64_t i = 0; i < count && outcome == EXCHANGED && !stage_stopping(stage); i++) {
        int64_t row[RESPONSE_COLUMNS] = {0};
        outcome = outcome_of(stage, exchange, exchange_once(stage, exchange, row));
        if (outcome == EXCHANGED) {
            stage->source->counters.warmup++;
        }
    }
    return outcome;
}

/* A repetition begins: its channels are its own. */
static bool renew(struct stage *stage, struct exchange *exchange)
{
    for (;;) {
        close_channels(stage, exchange);
        if (stage_stopping(stage) || !open_channels(stage, exchange)) {
            return false;
        }
        const enum outcome outcome = warm_up(stage, exchange, stage->set->options->warmup);
        if (outcome != LOST) {
            return outcome == EXCHANGED;
        }
    }
}

static enum outcome measure_one(struct stage *stage, struct exchange *exchange, int64_t k, int64_t scheduled_ns)
{
    int64_t row[RESPONSE_COLUMNS];
    if (exchange->options->rehearse) {
        const enum outcome outcome = warm_up(stage, exchange, 1);
        if (outcome != EXCHANGED) {
            return outcome;
        }
    }
    const enum outcome outcome = outcome_of(stage, exchange, exchange_once(stage, exchange, row));
    if (outcome == EXCHANGED) {
        row[REPETITION] = k / exchange->options->exchanges;
        row[SCHEDULED] = scheduled_ns;
        stage_record(stage, k, row);
    }
    return outcome;
}

/* Each repetition has a start of its own, after its channels are made. Releases that pass while an answer is awaited
 * in vain are missed. */
static void run_periodic(struct stage *stage, struct exchange *exchange)
{
    struct source *const source = stage->source;
    const int64_t exchanges = exchange->options->exchanges;
    int64_t repetition = 0;
    if (!renew(stage, exchange)) {
        return;
    }
    struct schedule schedule =
        schedule_from(os_now_ns() + stage->period_ns, stage->period_ns, stage->set->options->count, 0);
    while (schedule_goes_on(&schedule, stage->set->recorder)) {
        if (schedule.release / exchanges != repetition) {
            repetition = schedule.release / exchanges;
            const bool renewed = renew(stage, exchange);
            schedule.scheduled_ns = os_now_ns() + stage->period_ns;
            if (!renewed) {
                break;
            }
        }
        if (schedule_wait(&schedule, stage->set->recorder) < schedule.scheduled_ns) {
            break;
        }
        const enum outcome outcome = measure_one(stage, exchange, schedule.release, schedule.scheduled_ns);
        if (outcome == EXCHANGED) {
            schedule_next(&schedule, source, os_now_ns());
        } else if (outcome == ENDED || !renew(stage, exchange)) {
            break;
        } else {
            schedule_pass_over(&schedule, source, os_now_ns());
        }
    }
    schedule_close(&schedule, source);
}

static void run_back_to_back(struct stage *stage, struct exchange *exchange)
{
    const int64_t exchanges = exchange->options->exchanges;
    const int64_t count = stage->set->options->count;
    enum outcome outcome = LOST; /* nothing is there yet */
    for (int64_t k = 0; k < count && !stage_stopping(stage);) {
        if (outcome == ENDED || ((outcome == LOST || k % exchanges == 0) && !renew(stage, exchange))) {
            break;
        }
        if (k % ROUND == 0) {
            os_sleep_until_and_read(os_now_ns() + REST_NS);
        }
        do {
            outcome = measure_one(stage, exchange, k, 0);
            k += outcome == EXCHANGED ? 1 : 0;
        } while (outcome == EXCHANGED && k < count && k % exchanges != 0 && k % ROUND != 0 && !stage_stopping(stage));
    }
}

void response_task_1(struct stage *stage)
{
    struct exchange *const exchange = stage->context;
    if (stage->period_ns != 0) {
        run_periodic(stage, exchange);
    } else {
        run_back_to_back(stage, exchange);
    }
    close_channels(stage, exchange);
    exchange->over = true;
    os_semaphore_post(exchange->renewed);
}
