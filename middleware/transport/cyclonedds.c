/*
 * Cyclone DDS: one process has one domain and one participant; a servant, or a connection, has a channel of its own. A
 * request is a sample; the thread that serves waits in a waitset, takes it, and writes the reply. Samples come from the
 * network by the library's one receiving thread of the process, for all servants in turn: that is how the library is
 * made, and part of what is measured. Shared memory (iceoryx) is not used.
 *
 * No status tells in time that a server was killed: the library waits for its lease of 10 s. Where there is no room for
 * a sample within patience, the server's system is asked. A server that ends in order says so, and is noticed at once.
 */
#include "transport.h"

#include "cyclonedds_channel.h"
#include "cyclonedds_domain.h"
#include "cyclonedds_service.h"

#include <dds/version.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENT_BITS = 32 };
static const int64_t look_ns = 1000000;
static const int64_t greeting_patience_ns = 50000000;
static const int64_t stuck_ns = 60000000000; /* a servant that has not moved for so long never will */

struct connection {
    struct channel channel;
    atomic_bool closed; /* the servant is gone */
    int64_t patience_ns;
    Cubit_Request request;
    void *elements; /* of the request */
    uint64_t room;  /* bytes there */
    void *loan;     /* the last reply, lent by the library; NULL: none */
};

/* All connections of this process share one domain: it goes with the last of them. */
static struct {
    pthread_mutex_t guard;
    struct domain domain;
    struct domain_place place;
    uint32_t users;
} shared = {.guard = PTHREAD_MUTEX_INITIALIZER};

static enum os_status share_domain(const struct domain_place *place, const struct os_thread_attributes *housekeeping)
{
    enum os_status status = OS_OK;
    pthread_mutex_lock(&shared.guard);
    if (shared.users == 0) {
        status = domain_join(&shared.domain, place, housekeeping);
        shared.place = *place;
    } else if (strcmp(shared.place.tag, place->tag) != 0) {
        status = OS_BUSY; /* one server at a time */
    }
    shared.users += status == OS_OK;
    pthread_mutex_unlock(&shared.guard);
    return status;
}

static void leave_domain(void)
{
    pthread_mutex_lock(&shared.guard);
    if (--shared.users == 0) {
        domain_close(&shared.domain);
    }
    pthread_mutex_unlock(&shared.guard);
}

static bool copy_part(const char **text, char *part, size_t bytes)
{
    const size_t length = strcspn(*text, "/");
    if (length == 0 || length >= bytes) {
        return false;
    }
    memcpy(part, *text, length);
    part[length] = '\0';
    *text += length + ((*text)[length] == '/');
    return true;
}

/* ADDRESS/PORT/TAG/NUMBER, as `serve` wrote it. */
static bool read_endpoint(const char *endpoint, struct domain_place *place, uint32_t *number)
{
    char port[8];
    char servant[8];
    if (!copy_part(&endpoint, place->address, sizeof place->address) || !copy_part(&endpoint, port, sizeof port) ||
        !copy_part(&endpoint, place->tag, sizeof place->tag) || !copy_part(&endpoint, servant, sizeof servant) ||
        place->tag[strspn(place->tag, "abcdefghijklmnopqrstuvwxyz_0123456789")] != '\0') {
        return false;
    }
    place->port = (uint16_t)strtoul(port, NULL, 10);
    *number = (uint32_t)strtoul(servant, NULL, 10);
    return place->port != 0;
}

/* Called by threads of the library. */
static void servant_is_gone(struct connection *connection)
{
    atomic_store(&connection->closed, true);
    channel_wake(&connection->channel);
}

static void on_reader_matched(dds_entity_t reader, const dds_subscription_matched_status_t status, void *connection)
{
    (void)reader;
    if (status.current_count == 0) {
        servant_is_gone(connection);
    }
}

static void on_writer_matched(dds_entity_t writer, const dds_publication_matched_status_t status, void *connection)
{
    (void)writer;
    if (status.current_count == 0) {
        servant_is_gone(connection);
    }
}

static enum os_status open_channel(struct connection *connection, const struct domain_place *place, uint32_t number,
                                   int64_t patience_ns)
{
    struct os_thread_obtained thread;
    os_thread_read_back(&thread);
    dds_listener_t *const listener = dds_create_listener(connection);
    if (listener == NULL) {
        return OS_NO_MEMORY;
    }
    dds_lset_subscription_matched(listener, on_reader_matched);
    dds_lset_publication_matched(listener, on_writer_matched);
    const struct channel_options options = {
        .side = CHANNEL_OF_CLIENT,
        .tag = place->tag,
        .number = number,
        .urgency = thread.native_priority > 0 ? (int32_t)thread.native_priority : 0,
        .patience_ns = patience_ns,
        .listener = listener,
    };
    const enum os_status status = channel_open(&connection->channel, shared.domain.participant, &options);
    dds_delete_listener(listener);
    return status;
}

static void give_back(struct connection *connection)
{
    if (connection->loan != NULL) {
        dds_return_loan(connection->channel.reader, &connection->loan, 1);
        connection->loan = NULL;
    }
}

static enum os_status write_request(struct connection *connection, uint8_t wants)
{
    connection->request.number++;
    connection->request.wants = wants;
    return atomic_load_explicit(&connection->closed, memory_order_relaxed)
               ? OS_CLOSED
               : domain_status(dds_write(connection->channel.writer, &connection->request));
}

/* The reply to the last request, if it has come; earlier ones are passed over. */
static enum os_status take_reply(struct connection *connection)
{
    const dds_entity_t reader = connection->channel.reader;
    for (;;) {
        dds_sample_info_t info;
        connection->loan = NULL;
        const dds_return_t taken = dds_take(reader, &connection->loan, &info, 1, 1);
        if (taken <= 0) {
            connection->loan = NULL;
            return taken == 0 ? OS_TIMED_OUT : domain_status(taken);
        }
        const Cubit_Reply *const taken_reply = connection->loan;
        if (info.valid_data && taken_reply->number == connection->request.number) {
            return OS_OK;
        }
        give_back(connection);
    }
}

static enum os_status await_reply(struct connection *connection, int64_t patience_ns)
{
    int64_t left_ns = patience_ns;
    int64_t late_ns = 0;
    for (;;) {
        enum os_status status = channel_wait(&connection->channel, left_ns);
        if (status == OS_OK) {
            status = take_reply(connection);
        } else if (status == OS_TIMED_OUT) {
            return status;
        }
        if (status != OS_TIMED_OUT) {
            return status;
        }
        if (atomic_load(&connection->closed)) {
            return OS_CLOSED;
        }
        const int64_t now_ns = os_now_ns(); /* only where something else than the reply came */
        late_ns = late_ns == 0 ? now_ns + left_ns : late_ns;
        left_ns = late_ns > now_ns ? late_ns - now_ns : 0;
    }
}

/* Each side finds the other at its own time: the servant has found us when it answers. */
static enum os_status greet(struct connection *connection, int64_t patience_ns)
{
    const int64_t late_ns = os_now_ns() + patience_ns;
    enum os_status status = OS_TIMED_OUT;
    while (status == OS_TIMED_OUT && os_now_ns() < late_ns) {
        if (os_stop_requested() != OS_STOP_NONE) {
            return OS_INTERRUPTED;
        }
        if (!channel_is_matched(&connection->channel)) {
            os_sleep_until(os_now_ns() + look_ns);
            continue;
        }
        status = write_request(connection, WANTS_GREETING);
        if (status == OS_OK) {
            status = await_reply(connection, greeting_patience_ns);
        }
    }
    give_back(connection);
    return status;
}

static void disconnect(struct connection *connection)
{
    give_back(connection);
    channel_close(&connection->channel);
    leave_domain();
    free(connection->elements);
    free(connection);
}

static enum os_status connect(struct connection **connection, const struct connect_options *options)
{
    struct domain_place place;
    uint32_t number = 0;
    if (!read_endpoint(options->endpoint, &place, &number)) {
        return OS_INVALID;
    }
    enum os_status status = share_domain(&place, &options->housekeeping);
    if (status != OS_OK) {
        return status;
    }
    struct connection *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        leave_domain();
        return OS_NO_MEMORY;
    }
    /* Replies to another client of the same servant come here too; they have other numbers. */
    made->request.number = ((uint64_t)os_wall_clock_ns() + options->number) << CLIENT_BITS;
    made->patience_ns = options->patience_ns;
    status = open_channel(made, &place, number, options->patience_ns);
    if (status == OS_OK) {
        status = greet(made, long_patience_ns(options->patience_ns));
    }
    if (status != OS_OK) {
        disconnect(made);
        return status;
    }
    *connection = made;
    return OS_OK;
}

static enum os_status prepare(struct connection *connection, const struct value *argument)
{
    give_back(connection);
    const uint64_t bytes = value_bytes(argument->kind, argument->length);
    struct value copy = *argument;
    if (value_is_sequence(argument->kind)) {
        if (bytes > connection->room) {
            void *const grown = realloc(connection->elements, bytes);
            if (grown == NULL) {
                return OS_NO_MEMORY;
            }
            connection->elements = grown;
            connection->room = bytes;
        }
        if (bytes > 0) {
            memcpy(connection->elements, argument->elements, bytes);
        }
        copy.elements = connection->elements;
    }
    datum_from_value(&connection->request.argument, &copy);
    return OS_OK;
}

static enum os_status call(struct connection *connection)
{
    give_back(connection);
    const enum os_status status = write_request(connection, WANTS_ANSWER);
    return status == OS_OK ? await_reply(connection, connection->patience_ns) : status;
}

/* A writer that was held back goes on when nearly all that it has sent was acknowledged. With a slow servant that takes
 * longer than anybody's patience for one answer, and is no reason to give up. Of a server that is dead its system tells,
 * or at last the lease. */
static enum os_status send_one_way(struct connection *connection)
{
    int64_t late_ns = 0;
    enum os_status status = write_request(connection, WANTS_NOTHING);
    while (status == OS_TIMED_OUT && os_stop_requested() == OS_STOP_NONE) {
        const int64_t now_ns = os_now_ns();
        late_ns = late_ns == 0 ? now_ns + stuck_ns : late_ns;
        if (now_ns > late_ns) {
            break;
        }
        if (domain_is_deserted(&shared.place)) {
            return OS_CLOSED;
        }
        status = write_request(connection, WANTS_NOTHING);
    }
    return status;
}

static void answer(struct connection *connection, struct value *value)
{
    const Cubit_Reply *const taken = connection->loan;
    if (taken == NULL || !value_from_datum(value, &taken->result)) {
        *value = (struct value){.kind = VALUE_KINDS};
    }
}

static const char *version(void)
{
    return DDS_VERSION;
}

const struct transport the_transport = {
    .name = "cyclonedds",
    .title = "Cyclone DDS",
    .version = version,
    .reliable = true,
    .serve = cyclonedds_serve,
    .end_service = cyclonedds_end_service,
    .connect = connect,
    .disconnect = disconnect,
    .prepare = prepare,
    .call = call,
    .send = send_one_way,
    .answer = answer,
};
