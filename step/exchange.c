#include "exchange.h"

#include "peer.h"

#include <string.h>

enum { NS_PER_MS = 1000000, AT_ONCE = 256, LEAST_PLACES = 1024, MOST_PLACES = 1 << 20, LEAST_WAITING = 16, LINGERS = 10 };

/* What became of a message. */
enum fate { FATE_UNDER_WAY, FATE_ANSWERED, FATE_GIVEN_UP };

struct sent {
    int64_t *row; /* NULL: it has none, or that is published */
    int64_t send_ns;
    enum fate fate;
    bool is_recorded;
};

const struct column exchange_columns[EXCHANGE_COLUMNS] = {
    [EXCHANGE_SEND] = {"send_ns", "just before the outputs of the step are sent", NULL},
    [EXCHANGE_SENT] = {"sent_ns", "just after the system has taken them", NULL},
    [EXCHANGE_ANSWERED] = {"answered_ns", "arrival of the answer to them", NULL},
    [EXCHANGE_INPUT] = {"input_ns", "arrival of the inputs that the step computes with", NULL},
    [EXCHANGE_SEQUENCE] = {"sequence", "number of the message that was sent", "1"},
    [EXCHANGE_INPUT_SEQUENCE] = {"input_sequence", "number of the message that these inputs answer", "1"},
};

static struct sent *sent_of(const struct exchange *exchange, uint64_t sequence)
{
    return &exchange->sent[sequence & (exchange->places - 1)];
}

enum os_status exchange_prepare(struct exchange *exchange, const struct exchange_options *options, int64_t period_ns,
                                struct ring *ring, uint32_t first, struct exchange_books *books)
{
    const int64_t under_way = options->patience_ns / period_ns;
    const uint64_t at_most = ring->capacity / 2;
    uint64_t waiting = under_way > LEAST_WAITING ? (uint64_t)under_way : LEAST_WAITING;
    waiting = waiting < at_most ? waiting : at_most;
    waiting = waiting < MOST_PLACES / 2 ? waiting : MOST_PLACES / 2;
    exchange->places = LEAST_PLACES;
    while (exchange->places < 2 * waiting) {
        exchange->places *= 2;
    }
    void *memory = NULL;
    const enum os_status status = os_memory_allocate(&memory, exchange->places * sizeof *exchange->sent);
    if (status != OS_OK) {
        return status;
    }
    exchange->sent = memory; /* until the process ends */
    exchange->most_waiting = waiting;
    exchange->patience_ns = options->patience_ns;
    exchange->ring = ring;
    exchange->books = books;
    exchange->answer_at = first + EXCHANGE_ANSWERED;
    exchange->input_ns = NO_VALUE;
    return OS_OK;
}

/* An instruction in between, and a row is not published; never one twice. */
static void publish_one(struct ring *ring, struct exchange_books *books)
{
    books->waiting--;
    ring_commit(ring);
}

/* The oldest rows that wait for nothing any more. */
static void publish(struct exchange *exchange, bool all)
{
    for (; exchange->oldest < exchange->next; exchange->oldest++) {
        struct sent *const one = sent_of(exchange, exchange->oldest);
        if (one->fate == FATE_UNDER_WAY) {
            const bool is_over = exchange->next - exchange->oldest > exchange->most_waiting ||
                                 os_now_ns() - one->send_ns > exchange->patience_ns;
            if (!all && !is_over) {
                return;
            }
            one->fate = FATE_GIVEN_UP;
        }
        if (one->row != NULL) {
            one->row = NULL;
            publish_one(exchange->ring, exchange->books);
        }
    }
}

static void take_inputs(struct exchange *exchange, int64_t received_ns, bool is_recorded)
{
    const struct link_message *const message = &exchange->message;
    const uint32_t inputs = exchange->signals->inputs;
    const uint32_t count = message->count < inputs ? message->count : inputs;
    exchange->newest = message->sequence;
    exchange->heard = true;
    exchange->input_ns = received_ns;
    exchange->books->incomplete += is_recorded && message->count < inputs;
    if (count > 0) {
        memcpy(exchange->signals->in, message->values, count * sizeof message->values[0]);
    }
}

static void note(struct exchange *exchange, int64_t received_ns)
{
    const uint64_t sequence = exchange->message.sequence;
    struct exchange_books *const books = exchange->books;
    if (sequence >= exchange->next) {
        books->foreign++; /* nothing of that number was sent */
        return;
    }
    if (exchange->next - sequence > exchange->places) {
        books->late++; /* what became of it is forgotten */
        return;
    }
    struct sent *const one = sent_of(exchange, sequence);
    const bool is_older = exchange->heard && sequence < exchange->newest;
    if (one->fate == FATE_UNDER_WAY && received_ns - one->send_ns > exchange->patience_ns) {
        one->fate = FATE_GIVEN_UP; /* no step looked in between */
    }
    switch (one->fate) {
    case FATE_UNDER_WAY:
        one->fate = FATE_ANSWERED;
        books->answered += one->is_recorded;
        books->reordered += one->is_recorded && is_older;
        if (one->row != NULL) {
            one->row[exchange->answer_at] = received_ns > one->send_ns ? received_ns : one->send_ns;
        }
        break;
    case FATE_ANSWERED:
        books->repeated += one->is_recorded;
        break;
    default:
        books->late += one->is_recorded;
        break;
    }
    if (!is_older) {
        take_inputs(exchange, received_ns, one->is_recorded);
    }
}

/* Bounded, so that a flood of messages can't keep a step from its release. */
static void take_all(struct exchange *exchange)
{
    for (int i = 0; i < AT_ONCE; i++) {
        int64_t received_ns = 0;
        const enum os_status status = link_receive(&exchange->link, &exchange->message, &received_ns);
        if (status == OS_OK) {
            exchange->heard_ns = received_ns;
            note(exchange, received_ns);
        } else if (status == OS_INVALID) {
            exchange->books->foreign++;
        } else {
            break;
        }
    }
    publish(exchange, false);
}

void exchange_take(struct exchange *exchange, int64_t told[EXCHANGE_COLUMNS])
{
    take_all(exchange);
    told[EXCHANGE_INPUT] = exchange->input_ns;
    told[EXCHANGE_INPUT_SEQUENCE] = exchange->heard ? (int64_t)exchange->newest : NO_VALUE;
}

static bool may_send(const struct exchange *exchange)
{
    const uint64_t last = exchange->link.last;
    return !exchange->link.is_single || last >= exchange->next || sent_of(exchange, last)->fate != FATE_UNDER_WAY;
}

void exchange_give(struct exchange *exchange, uint64_t release, bool is_recorded, int64_t told[EXCHANGE_COLUMNS])
{
    struct link_message *const message = &exchange->message;
    message->sequence = exchange->next;
    message->release = release;
    message->count = exchange->signals->outputs;
    if (message->count > 0) {
        memcpy(message->values, exchange->signals->out, message->count * sizeof message->values[0]);
    }
    message->send_ns = os_now_ns();
    const bool is_sent = may_send(exchange) && link_send(&exchange->link, message) == OS_OK;
    told[EXCHANGE_SENT] = os_now_ns();
    told[EXCHANGE_SEND] = message->send_ns;
    told[EXCHANGE_SEQUENCE] = is_sent ? (int64_t)message->sequence : NO_VALUE;
    told[EXCHANGE_ANSWERED] = NO_VALUE;
    exchange->books->sent += is_recorded && is_sent;
    exchange->books->unsent += is_recorded && !is_sent;
    *sent_of(exchange, message->sequence) = (struct sent){
        .send_ns = message->send_ns,
        .fate = is_sent ? FATE_UNDER_WAY : FATE_GIVEN_UP,
        .is_recorded = is_recorded,
    };
    exchange->next++;
}

int64_t *exchange_slot(struct exchange *exchange)
{
    struct ring *const ring = exchange->ring;
    const uint64_t at = atomic_load_explicit(&ring->written, memory_order_relaxed) + exchange->books->waiting;
    if (at - ring->read_seen >= ring->capacity) {
        ring->read_seen = atomic_load_explicit(&ring->read, memory_order_acquire);
        if (at - ring->read_seen >= ring->capacity) {
            counter_add(&ring->dropped, 1);
            return NULL;
        }
    }
    return ring->rows + (at & ring->mask) * ring->row_words;
}

void exchange_keep(struct exchange *exchange, int64_t *row)
{
    sent_of(exchange, exchange->next - 1)->row = row;
    exchange->books->waiting++;
}

void exchange_publish(struct ring *ring, struct exchange_books *books)
{
    while (books->waiting > 0) {
        publish_one(ring, books);
    }
}

/* The last message has its answer: what is still missing was lost, or comes very soon. */
static bool is_answered(const struct exchange *exchange)
{
    const struct sent *const last = sent_of(exchange, exchange->next - 1);
    return exchange->next == 0 || last->fate == FATE_ANSWERED ||
           (last->fate == FATE_GIVEN_UP && exchange->oldest == exchange->next);
}

void exchange_finish(struct exchange *exchange, const struct recorder *recorder, int64_t when_stopped_ns)
{
    const int64_t begin_ns = os_now_ns();
    const int64_t lingers_ns = exchange->patience_ns / LINGERS;
    take_all(exchange);
    while (exchange->oldest < exchange->next && os_now_ns() - begin_ns < exchange->patience_ns &&
           !(recorder_stopping(recorder) && os_now_ns() - begin_ns > when_stopped_ns) &&
           !(is_answered(exchange) && os_now_ns() - exchange->heard_ns > lingers_ns)) {
        link_wait(&exchange->link, NS_PER_MS);
        take_all(exchange);
    }
    publish(exchange, true);
    link_close(&exchange->link);
}

void exchange_options_to_json(struct json *json, const struct exchange_options *options)
{
    if (options->text != NULL) {
        json_text(json, "exchange", options->text);
        json_integer(json, "patience_ns", options->patience_ns);
        json_text_or_null(json, "peer", options->peer >= 0 ? peer_plants[options->peer] : NULL);
    }
}

void exchange_to_json(struct json *json, const struct exchange_options *options, bool is_stamped,
                      const struct tautochrone_signals *signals)
{
    json_open_object(json, "exchange");
    json_text(json, "kind", options->address.kind->name);
    json_text(json, "receipt", is_stamped ? "kernel" : "taken");
    json_integer(json, "inputs", signals->inputs);
    json_integer(json, "outputs", signals->outputs);
    json_close_object(json);
}

void exchange_books_to_json(struct json *json, const struct exchange_books *books)
{
    json_open_object(json, "exchange");
    json_integer(json, "sent", (int64_t)books->sent);
    json_integer(json, "unsent", (int64_t)books->unsent);
    json_integer(json, "answered", (int64_t)books->answered);
    json_integer(json, "lost", (int64_t)(books->sent - books->answered));
    json_integer(json, "late", (int64_t)books->late);
    json_integer(json, "repeated", (int64_t)books->repeated);
    json_integer(json, "reordered", (int64_t)books->reordered);
    json_integer(json, "incomplete", (int64_t)books->incomplete);
    json_integer(json, "foreign", (int64_t)books->foreign);
    json_close_object(json);
}
