/*
 * Latency and jitter of calls, as in section 3.3 and Figure 3 of schmidt2002 (MT_Cubit): client C0 at the highest
 * priority calls servant S0 20 times a second, clients C1 … Cn below it, each at a priority of its own, call theirs 10
 * times a second, all at once. A call takes one octet there, and its cube back. C0 goes on as long as low clients do.
 *
 * The schedule is absolute, and release k of each client is start + k * period. scheduled_ns is that instant, sent_ns
 * the last thing that the woken client reads before the call, answered_ns the first after its return; the argument was
 * made ready before the client slept, and the answer is checked afterwards. sent_ns -> answered_ns is what the paper
 * reports. scheduled_ns -> answered_ns is what a user waits: who is late makes the next call at once, so that a slow
 * server is not spared the calls that would have come meanwhile. With --one-way the servant reads the clock, too, as the
 * first thing that it does about the request; then request and reply add up to the round trip.
 *
 * Here is what a client's thread does; who starts it is in latency_run.c.
 */
#include "latency.h"

#include "experiment/schedule.h"

static bool is_high(const struct latency_client *client)
{
    return client->client.number == 0;
}

/* ---- One call ------------------------------------------------------------- */

/* Odd octets: no two of them have the same cube, so that no answer passes for another one. */
static void choose_argument(const struct latency_client *client, int64_t k, struct value *argument)
{
    const uint64_t number = (uint64_t)k + client->client.number;
    value_fill(argument, client->options->one_way ? VALUE_TIMED : VALUE_OCTET, 0, 2 * number + 1);
}

static bool make_ready(struct latency_client *client, int64_t k, struct value *argument)
{
    choose_argument(client, k, argument);
    return client_prepare(&client->client, argument);
}

static void record(const struct latency_client *client, int64_t scheduled_ns, int64_t sent_ns, int64_t arrived_ns,
                   int64_t answered_ns)
{
    struct source *const source = client->source;
    int64_t *row = ring_slot(&source->ring);
    if (row != NULL) {
        *row++ = scheduled_ns;
        *row++ = sent_ns;
        if (client->options->one_way) {
            *row++ = arrived_ns;
        }
        *row = answered_ns;
        ring_commit(&source->ring);
    }
    source->counters.completed++;
}

/* The call of one release. `answered_ns` is when it was over, with an answer or without. */
static enum call_end call_once(struct latency_client *client, struct value *argument, int64_t scheduled_ns,
                               int64_t *answered_ns)
{
    struct value answer;
    const int64_t sent_ns = os_now_ns();
    const enum os_status status = the_transport.call(client->client.connection);
    *answered_ns = os_now_ns();
    const enum call_end end = client_judge(&client->client, status);
    if (end != CALL_ANSWERED) {
        return end;
    }
    if (!client_check_answer(&client->client, argument, &answer)) {
        return CALL_ENDS_RUN;
    }
    if (client->options->one_way && (answer.arrived_ns < sent_ns || answer.arrived_ns > *answered_ns)) {
        client_fail(&client->client, "a servant's time stamp lies outside its call: it reads another clock");
        return CALL_ENDS_RUN;
    }
    record(client, scheduled_ns, sent_ns, answer.arrived_ns, *answered_ns);
    return CALL_ANSWERED;
}

/* ---- Its releases --------------------------------------------------------- */

static int64_t low_ended_ns(const struct latency_client *client)
{
    return is_high(client) ? atomic_load_explicit(&client->meeting->low_ended_ns, memory_order_acquire) : INT64_MAX;
}

/* C0 still serves what was released before the low clients' end, but not for longer than a period. */
static bool is_past_the_end(const struct latency_client *client, const struct schedule *schedule, int64_t now_ns)
{
    const int64_t ended_ns = low_ended_ns(client);
    return schedule->scheduled_ns > ended_ns || now_ns - schedule->period_ns > ended_ns;
}

/* On to the next release. False: the run ends here. */
static bool advance(struct latency_client *client, struct schedule *schedule, enum call_end end, int64_t now_ns)
{
    bool in_time = true;
    if (end == CALL_LOST) {
        schedule_pass_over(schedule, client->source, schedule->scheduled_ns); /* this one is missed */
        in_time = now_ns < schedule->scheduled_ns;
    } else {
        in_time = schedule_advance(schedule, client->source, now_ns);
    }
    if (in_time || client->options->overrun == LATENCY_REPLAY || is_past_the_end(client, schedule, now_ns)) {
        return true;
    }
    schedule_pass_over(schedule, client->source, now_ns);
    if (client->options->overrun == LATENCY_STOP) {
        atomic_store(&client->client.recorder->overrun_stop, true);
        atomic_store(&client->client.recorder->stop, true);
        return false;
    }
    return true;
}

/* C0's are closed at the instant at which the low clients ended. */
static void close_books(const struct latency_client *client, struct schedule *schedule)
{
    const int64_t ended_ns = low_ended_ns(client);
    if (ended_ns == INT64_MAX || recorder_stopping(client->client.recorder)) {
        schedule_close(schedule, client->source);
        return;
    }
    if (ended_ns >= schedule->scheduled_ns) {
        schedule_pass_over(schedule, client->source, ended_ns);
    }
    client->source->counters.released = (uint64_t)schedule->release;
}

static void serve_releases(struct latency_client *client)
{
    const struct latency_options *const options = client->options;
    struct recorder *const recorder = client->client.recorder;
    const uint32_t number = client->client.number;
    struct schedule schedule = schedule_from(client->first_release_ns, latency_period_ns(options, number),
                                             latency_releases(options, number), 0);
    struct value argument;
    bool goes_on = true;
    while (goes_on && schedule_goes_on(&schedule, recorder) && make_ready(client, schedule.release, &argument)) {
        const int64_t woken_ns = schedule_wait(&schedule, recorder);
        if (woken_ns < schedule.scheduled_ns || is_past_the_end(client, &schedule, woken_ns)) {
            break; /* stopped before this release came: it does not count */
        }
        int64_t answered_ns = 0;
        const enum call_end end = call_once(client, &argument, schedule.scheduled_ns, &answered_ns);
        goes_on = end != CALL_ENDS_RUN && advance(client, &schedule, end, answered_ns);
    }
    if (is_high(client) && options->clients > 0 && schedule.release == schedule.count) {
        client_fail(&client->client, "the low clients do not come to their end: threads of higher priority keep the CPU");
    }
    close_books(client, &schedule);
}

/* ---- The thread ------------------------------------------------------------ */

static void connect_and_warm_up(struct latency_client *client)
{
    struct value argument;
    struct value answer;
    client->status = client_connect(&client->client);
    for (int64_t k = 0; k < client->options->warmup && client->status == OS_OK; k++) {
        if (recorder_stopping(client->client.recorder)) {
            break;
        }
        if (!make_ready(client, k, &argument)) {
            client->status = OS_FAILED;
            break;
        }
        const enum call_end end = client_judge(&client->client, the_transport.call(client->client.connection));
        if (end == CALL_ENDS_RUN || (end == CALL_ANSWERED && !client_check_answer(&client->client, &argument, &answer))) {
            client->status = OS_FAILED;
        }
        client->source->counters.warmup++;
    }
}

static void tell_end(struct latency_client *client)
{
    struct latency_meeting *const meeting = client->meeting;
    if (!is_high(client) && atomic_fetch_sub(&meeting->low_at_work, 1) == 1) {
        atomic_store_explicit(&meeting->low_ended_ns, os_now_ns(), memory_order_release);
    }
}

void latency_client_work(void *argument)
{
    struct latency_client *const client = argument;
    const int64_t cpu_time_before_ns = os_thread_cpu_time_ns();
    os_thread_read_back(&client->obtained);
    connect_and_warm_up(client);
    os_semaphore_post(client->meeting->ready);
    os_semaphore_wait(client->meeting->go);
    os_semaphore_post(client->meeting->go); /* to the next: who let us go may not get its CPU again for a while */
    if (client->status == OS_OK) {
        serve_releases(client);
    }
    tell_end(client);
    client->source->counters.cpu_time_ns = os_thread_cpu_time_ns() - cpu_time_before_ns;
    source_finish(client->source);
}
