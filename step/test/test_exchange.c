/* Messages and their answers, with the other side in the same thread: what becomes of each is known. */
#include "exchange.h"
#include "fmu.h"

#include "test/check.h"

#include <arpa/inet.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

enum { PERIOD_NS = 1000000, ROWS = 64, WORDS = EXCHANGE_COLUMNS, PATIENT_S = 100 };
static const int64_t ns_per_s = 1000000000;

struct pair {
    struct exchange loop;
    struct link peer;
    struct ring ring;
    struct exchange_books books;
    struct tautochrone_signals signals;
    double in[2];
    double out[2];
};

static void open_pair(struct pair *pair, int64_t patience_ns)
{
    struct link_address address = {.kind = &link_of_udp, .place = "127.0.0.1"};
    struct exchange_options options = {.text = "udp", .patience_ns = patience_ns, .peer = -1};
    struct sockaddr_in bound;
    socklen_t length = sizeof bound;
    const char *why = NULL;
    memset(pair, 0, sizeof *pair);
    pair->signals = (struct tautochrone_signals){.inputs = 2, .outputs = 2, .in = pair->in, .out = pair->out};
    assert_int_equal(link_open(&pair->peer, &address, LINK_PEER, &why), OS_OK); /* on a port that is free */
    assert_int_equal(getsockname(pair->peer.file, (struct sockaddr *)&bound, &length), 0);
    address.out = ntohs(bound.sin_port);
    assert_int_equal(link_open(&pair->loop.link, &address, LINK_LOOP, &why), OS_OK);
    assert_int_equal(ring_create(&pair->ring, ROWS, WORDS, OS_CPU_ANY), OS_OK);
    assert_int_equal(exchange_prepare(&pair->loop, &options, PERIOD_NS, &pair->ring, 0, &pair->books), OS_OK);
    pair->loop.signals = &pair->signals;
}

static void close_pair(struct pair *pair)
{
    link_close(&pair->loop.link);
    link_close(&pair->peer);
    ring_destroy(&pair->ring);
}

/* One period: what is there is taken, and something is sent. */
static void step(struct pair *pair, uint64_t release)
{
    int64_t told[EXCHANGE_COLUMNS];
    exchange_take(&pair->loop, told);
    exchange_give(&pair->loop, release, true, told);
    int64_t *const row = exchange_slot(&pair->loop);
    assert_non_null(row);
    memcpy(row, told, sizeof told);
    exchange_keep(&pair->loop, row);
}

/* The next message that the peer has. */
static struct link_message heard(struct pair *pair)
{
    struct link_message message;
    int64_t received_ns = 0;
    link_wait(&pair->peer, PATIENT_S * ns_per_s);
    assert_int_equal(link_receive(&pair->peer, &message, &received_ns), OS_OK);
    return message;
}

static void answer(struct pair *pair, const struct link_message *message)
{
    assert_int_equal(link_send(&pair->peer, message), OS_OK);
    link_wait(&pair->loop.link, PATIENT_S * ns_per_s);
}

static uint64_t published(struct pair *pair)
{
    return atomic_load(&pair->ring.written);
}

static void outputs_come_back_as_inputs(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, PATIENT_S * ns_per_s);
    pair.out[0] = 1.5;
    pair.out[1] = -2.0;
    step(&pair, 7);
    struct link_message message = heard(&pair);
    assert_int_equal(message.sequence, 0);
    assert_int_equal(message.release, 7);
    assert_int_equal(message.count, 2);
    answer(&pair, &message);
    assert_int_equal(published(&pair), 0);
    step(&pair, 8);
    assert_true(pair.in[0] == 1.5 && pair.in[1] == -2.0);
    assert_int_equal(pair.books.answered, 1);
    assert_int_equal(published(&pair), 1);
    assert_true(pair.ring.rows[EXCHANGE_ANSWERED] >= pair.ring.rows[EXCHANGE_SEND]);
    assert_true(pair.ring.rows[WORDS + EXCHANGE_INPUT] == pair.ring.rows[EXCHANGE_ANSWERED]);
    close_pair(&pair);
}

static void an_older_answer_counts_and_gives_no_inputs(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, PATIENT_S * ns_per_s);
    pair.out[0] = 1;
    step(&pair, 0);
    pair.out[0] = 2;
    step(&pair, 1);
    const struct link_message first = heard(&pair);
    const struct link_message second = heard(&pair);
    answer(&pair, &second);
    step(&pair, 2);
    assert_int_equal(published(&pair), 0); /* rows stay in their order */
    answer(&pair, &first);
    step(&pair, 3);
    answer(&pair, &first);
    step(&pair, 4);
    assert_true(pair.in[0] == 2);
    assert_int_equal(pair.books.answered, 2);
    assert_int_equal(pair.books.reordered, 1);
    assert_int_equal(pair.books.repeated, 1);
    assert_int_equal(published(&pair), 2);
    close_pair(&pair);
}

static void an_answer_after_the_patience_is_late(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, 1);
    step(&pair, 0);
    const struct link_message message = heard(&pair);
    step(&pair, 1);
    assert_int_equal(published(&pair), 1);
    answer(&pair, &message);
    step(&pair, 2);
    assert_int_equal(pair.books.answered, 0);
    assert_int_equal(pair.books.late, 1);
    assert_true(pair.ring.rows[EXCHANGE_ANSWERED] == NO_VALUE);
    close_pair(&pair);
}

/* Where no step looked in between, as with a patience below the period. */
static void an_answer_is_late_also_where_it_is_taken_with_those_in_time(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, PERIOD_NS);
    step(&pair, 0);
    const struct link_message message = heard(&pair);
    os_sleep_until(os_now_ns() + 2LL * PERIOD_NS);
    answer(&pair, &message);
    step(&pair, 1);
    assert_int_equal(pair.books.answered, 0);
    assert_int_equal(pair.books.late, 1);
    assert_int_equal(published(&pair), 1);
    assert_true(pair.ring.rows[EXCHANGE_ANSWERED] == NO_VALUE);
    close_pair(&pair);
}

static void what_waits_is_bounded_and_published_at_an_early_end(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, PATIENT_S * ns_per_s);
    for (uint64_t k = 0; k < ROWS; k++) {
        step(&pair, k);
    }
    assert_true(published(&pair) > 0);
    assert_true(pair.books.waiting <= ROWS / 2 + 1);
    exchange_publish(&pair.ring, &pair.books);
    assert_int_equal(published(&pair), ROWS);
    assert_int_equal(atomic_load(&pair.ring.dropped), 0);
    close_pair(&pair);
}

static void what_is_no_answer_is_foreign_or_incomplete(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, PATIENT_S * ns_per_s);
    pair.out[0] = 3;
    step(&pair, 0);
    struct link_message message = heard(&pair);
    message.sequence = 12345;
    answer(&pair, &message);
    step(&pair, 1);
    assert_int_equal(pair.books.foreign, 1);
    message.sequence = 0;
    message.count = 1;
    answer(&pair, &message);
    pair.in[1] = 9;
    step(&pair, 2);
    assert_int_equal(pair.books.incomplete, 1);
    assert_true(pair.in[0] == 3 && pair.in[1] == 9);
    close_pair(&pair);
}

/* The other side answers when the last message is under way, and the run is to stop. */
static void *answers_later(void *argument)
{
    struct pair *const pair = argument;
    const struct link_message message = heard(pair);
    os_sleep_until(os_now_ns() + 10LL * PERIOD_NS);
    assert_int_equal(link_send(&pair->peer, &message), OS_OK);
    return NULL;
}

static void what_is_under_way_when_a_run_is_stopped_is_waited_for(void **state)
{
    (void)state;
    struct pair pair;
    struct recorder recorder = {.stop = true};
    pthread_t other;
    open_pair(&pair, PATIENT_S * ns_per_s);
    assert_int_equal(pthread_create(&other, NULL, answers_later, &pair), 0);
    step(&pair, 0);
    exchange_finish(&pair.loop, &recorder, PATIENT_S * ns_per_s);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(pair.books.answered, 1);
    assert_int_equal(published(&pair), 1);
    close_pair(&pair);
}

static void addresses_are_read(void **state)
{
    (void)state;
    static const char *const good[] = {"udp:127.0.0.1:1", "udp:[::1]:65535", "can:vcan0", "can:vcan0:0x7ff:291",
                                       "gpio:gpiochip0:0:2"};
    static const char *const bad[] = {"", "udp", "udp:", "udp::1", "udp:127.0.0.1:0", "udp:127.0.0.1:65536", "udp:127.0.0.1:1x",
                                      "udp:[127.0.0.1:1", "can:", "can:a:", "can:a:1:1", "can:a:0x20000000:1",
                                      "can:a-name-too-long-for-it", "gpio:gpiochip0:1:1", "gpio:../mem:0:1",
                                      "gpio:gpiochip0:1:65536", "http://a"};
    struct link_address address;
    const char *form = NULL;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(link_read(&address, good[i], &form));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(link_read(&address, bad[i], &form));
        assert_non_null(form);
    }
}

static void what_a_device_sends_becomes_what_an_fmu_can_hold(void **state)
{
    (void)state;
    static const struct {
        int version;
        const char *type;
        double sent;
        double held;
    } cases[] = {
        {2, "Integer", 2.5, 2},         {2, "Integer", 5e31, INT32_MAX},  {3, "Int8", 300, 127},
        {3, "Int8", -300, -128},        {3, "UInt8", -1, 0},              {3, "UInt8", 300, 255},
        {3, "UInt16", 1e300, 65535},    {3, "Int32", (double)NAN, 0},     {3, "UInt32", 4294967295.0, 4294967295.0},
        {3, "Int64", 1e19, 0x1p63},     {3, "Int64", -1e19, -0x1p63},     {3, "UInt64", 1e20, 0x1p64},
        {3, "UInt64", 1e19, 1e19},      {2, "Real", -0.25, -0.25},        {3, "Float32", 0.5, 0.5},
        {2, "Boolean", 0.5, 1},         {3, "Boolean", 0.5, 1},           {2, "Boolean", -2, 1},
        {3, "Boolean", -2, 1},          {2, "Boolean", 0, 0},             {3, "Boolean", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        _Alignas(8) unsigned char values[2 * sizeof(double)];
        const struct fmu_type *const type = fmu_type_of(cases[i].version, cases[i].type);
        type->write(values, 1, cases[i].sent);
        assert_true(type->read(values, 1) == cases[i].held);
    }
}

TESTS(cmocka_unit_test(outputs_come_back_as_inputs), cmocka_unit_test(an_older_answer_counts_and_gives_no_inputs),
      cmocka_unit_test(an_answer_after_the_patience_is_late),
      cmocka_unit_test(an_answer_is_late_also_where_it_is_taken_with_those_in_time),
      cmocka_unit_test(what_waits_is_bounded_and_published_at_an_early_end),
      cmocka_unit_test(what_is_no_answer_is_foreign_or_incomplete),
      cmocka_unit_test(what_is_under_way_when_a_run_is_stopped_is_waited_for), cmocka_unit_test(addresses_are_read),
      cmocka_unit_test(what_a_device_sends_becomes_what_an_fmu_can_hold))
