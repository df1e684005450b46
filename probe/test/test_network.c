/* Connections over the loopback of the real system. */
#include "os/network.h"
#include "test/check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MS = 1000000, LARGE_BYTES = 3 * 1024 * 1024, MANY = 50 };
static const int64_t patience_ns = 10000000000;
static const struct os_thread_attributes ordinary = {.name = "test", .cpu = OS_CPU_ANY};

struct connection {
    struct os_socket here;
    struct os_socket there;
};

static void connect_at(struct connection *connection, const char *host)
{
    struct os_socket listening;
    uint16_t port = 0;
    assert_int_equal(os_network_listen(&listening, host, 0, 1), OS_OK);
    assert_int_equal(os_network_port(listening, &port), OS_OK);
    assert_true(port > 0);
    assert_int_equal(os_network_connect(&connection->here, host, port, patience_ns), OS_OK);
    assert_int_equal(os_network_accept(listening, patience_ns, &connection->there), OS_OK);
    os_network_close(&listening);
    assert_int_equal(listening.handle, OS_NO_SOCKET);
}

static void connect_both(struct connection *connection)
{
    connect_at(connection, os_network_loopback());
}

static void disconnect(struct connection *connection)
{
    os_network_close(&connection->here);
    os_network_close(&connection->there);
}

static void send_all(struct os_socket socket, const uint8_t *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        size_t sent = 0;
        assert_int_equal(os_network_send(socket, data + done, bytes - done, patience_ns, &sent), OS_OK);
        assert_true(sent > 0);
        done += sent;
    }
}

static void receive_all(struct os_socket socket, uint8_t *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        size_t received = 0;
        assert_int_equal(os_network_receive(socket, data + done, bytes - done, patience_ns, &received), OS_OK);
        assert_true(received > 0);
        done += received;
    }
}

static void only_numbers_are_addresses(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "", "localhost", "127.0.0", "127.0.0.256", "1.2.3.4.5", ":", "::1::", "10.0.0.2:80",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct os_socket made;
        assert_false(os_network_is_address(wrong[i]));
        assert_int_equal(os_network_listen(&made, wrong[i], 0, 1), OS_INVALID);
        assert_int_equal(os_network_connect(&made, wrong[i], 80, 0), OS_INVALID);
        assert_int_equal(made.handle, OS_NO_SOCKET);
    }
    assert_true(os_network_is_address("10.0.0.2"));
    assert_true(os_network_is_address("::1"));
    assert_true(os_network_is_address("2001:db8::17"));
    assert_true(os_network_is_address(os_network_loopback()));
}

struct echo {
    struct os_socket socket;
    size_t bytes;
};

static void echo(void *argument)
{
    const struct echo *const asked = argument;
    uint8_t data[10000];
    for (size_t done = 0; done < asked->bytes;) {
        size_t received = 0;
        assert_int_equal(os_network_receive(asked->socket, data, sizeof data, patience_ns, &received), OS_OK);
        send_all(asked->socket, data, received);
        done += received;
    }
}

static void every_byte_comes_back_in_order(const char *host)
{
    struct connection connection;
    struct os_thread *thread = NULL;
    uint8_t *const sent = malloc(LARGE_BYTES);
    uint8_t *const received = malloc(LARGE_BYTES);
    assert_true(sent != NULL && received != NULL);
    for (size_t at = 0; at < LARGE_BYTES; at++) {
        sent[at] = (uint8_t)(at * at >> 3);
    }
    connect_at(&connection, host);
    struct echo asked = {.socket = connection.there, .bytes = LARGE_BYTES};
    assert_int_equal(os_thread_create(&thread, &ordinary, echo, &asked), OS_OK);
    for (size_t done = 0; done < LARGE_BYTES; done += 65536) {
        send_all(connection.here, sent + done, 65536);
        receive_all(connection.here, received + done, 65536);
    }
    assert_int_equal(os_thread_join(thread), OS_OK);
    assert_memory_equal(sent, received, LARGE_BYTES);
    disconnect(&connection);
    free(sent);
    free(received);
}

static void what_is_sent_arrives_in_order_over_ip4_and_ip6(void **state)
{
    (void)state;
    static const char *const hosts[] = {"127.0.0.1", "::1"};
    size_t tried = 0;
    for (size_t i = 0; i < 2; i++) {
        struct os_socket listening;
        const enum os_status status = os_network_listen(&listening, hosts[i], 0, 1);
        if (status == OS_OK) {
            os_network_close(&listening);
            every_byte_comes_back_in_order(hosts[i]);
            tried++;
        } else {
            assert_int_equal(status, OS_UNREACHABLE); /* this machine has no such protocol */
        }
    }
    assert_true(tried > 0);
}

static void waiting_in_vain_ends_after_its_time(void **state)
{
    (void)state;
    struct connection connection;
    struct os_socket listening;
    struct os_socket none;
    uint8_t byte = 0;
    size_t received = 1;
    connect_both(&connection);
    assert_int_equal(os_network_listen(&listening, os_network_loopback(), 0, 1), OS_OK);

    const int64_t begin_ns = os_now_ns();
    assert_int_equal(os_network_receive(connection.here, &byte, 1, 20LL * MS, &received), OS_TIMED_OUT);
    assert_true(os_now_ns() >= begin_ns + 20LL * MS);
    assert_int_equal(received, 0);
    assert_int_equal(os_network_accept(listening, 20LL * MS, &none), OS_TIMED_OUT);
    assert_true(os_now_ns() >= begin_ns + 40LL * MS);
    assert_int_equal(none.handle, OS_NO_SOCKET);
    assert_int_equal(os_network_receive(connection.here, &byte, 1, 0, &received), OS_TIMED_OUT);
    assert_int_equal(os_network_accept(listening, 0, &none), OS_TIMED_OUT);
    os_network_close(&listening);
    disconnect(&connection);
}

static void a_connection_that_nobody_reads_takes_only_so_much(void **state)
{
    (void)state;
    struct connection connection;
    uint8_t data[65536] = {0};
    size_t sent = 0;
    enum os_status status = OS_OK;
    connect_both(&connection);
    for (int i = 0; i < 100000 && status == OS_OK; i++) {
        status = os_network_send(connection.here, data, sizeof data, 0, &sent);
    }
    assert_int_equal(status, OS_TIMED_OUT);
    assert_int_equal(sent, 0);
    const int64_t begin_ns = os_now_ns();
    assert_int_equal(os_network_send(connection.here, data, sizeof data, 20LL * MS, &sent), OS_TIMED_OUT);
    assert_true(os_now_ns() >= begin_ns + 20LL * MS);
    disconnect(&connection);
}

static void who_went_away_is_told_apart_from_silence(void **state)
{
    (void)state;
    struct connection connection;
    uint8_t data[1000] = {0};
    size_t count = 0;
    enum os_status status = OS_OK;
    connect_both(&connection);
    os_network_close(&connection.there);
    assert_int_equal(os_network_receive(connection.here, data, sizeof data, patience_ns, &count), OS_CLOSED);
    for (int i = 0; i < 1000 && status == OS_OK; i++) {
        status = os_network_send(connection.here, data, sizeof data, 0, &count); /* and no signal ends us */
    }
    assert_int_equal(status, OS_CLOSED);
    disconnect(&connection);
    disconnect(&connection); /* does nothing */
}

static void what_can_not_be_reached_says_why(void **state)
{
    (void)state;
    struct os_socket listening;
    struct os_socket other;
    uint16_t port = 0;
    const char *const host = os_network_loopback();
    assert_int_equal(os_network_listen(&listening, host, 0, 1), OS_OK);
    assert_int_equal(os_network_port(listening, &port), OS_OK);
    assert_int_equal(os_network_listen(&other, host, port, 1), OS_IN_USE);
    os_network_close(&listening);
    assert_int_equal(os_network_connect(&other, host, port, patience_ns), OS_REFUSED);
    assert_int_equal(other.handle, OS_NO_SOCKET);
    assert_int_equal(os_network_listen(&other, "192.0.2.1", 0, 1), OS_UNREACHABLE); /* of documentation, nobody's own */
}

/* A connection that nobody accepts, behind others that nobody accepts, is not made. */
static void connecting_in_vain_ends_after_its_time(void **state)
{
    (void)state;
    struct os_socket listening;
    struct os_socket made[MANY];
    uint16_t port = 0;
    int count = 0;
    int64_t begin_ns = 0;
    enum os_status status = OS_OK;
    assert_int_equal(os_network_listen(&listening, os_network_loopback(), 0, 1), OS_OK);
    assert_int_equal(os_network_port(listening, &port), OS_OK);
    while (count < MANY && status == OS_OK) {
        begin_ns = os_now_ns();
        status = os_network_connect(&made[count++], os_network_loopback(), port, 200LL * MS);
    }
    assert_int_equal(status, OS_TIMED_OUT);
    assert_true(os_now_ns() >= begin_ns + 200LL * MS);
    for (int i = 0; i < count; i++) {
        os_network_close(&made[i]);
    }
    os_network_close(&listening);
}

/* None waits out the minute for which the system keeps the port of a connection that was ended in order. */
static void a_port_is_free_again_at_once(void **state)
{
    (void)state;
    const char *const host = os_network_loopback();
    uint16_t port = 0;
    for (int i = 0; i < 20; i++) {
        struct os_socket listening;
        struct connection connection;
        uint8_t byte = 0;
        assert_int_equal(os_network_listen(&listening, host, port, 1), OS_OK);
        assert_int_equal(os_network_port(listening, &port), OS_OK);
        assert_int_equal(os_network_connect(&connection.here, host, port, patience_ns), OS_OK);
        assert_int_equal(os_network_accept(listening, patience_ns, &connection.there), OS_OK);
        send_all(connection.there, &byte, 1);
        os_network_close(&connection.there);
        os_network_close(&connection.here);
        os_network_close(&listening);
    }
}

static void only_those_that_are_ready_are_told(void **state)
{
    (void)state;
    struct connection connections[MANY];
    struct os_wait_set *set = NULL;
    uint8_t byte = 7;
    assert_int_equal(os_wait_set_create(&set, MANY + 1), OS_OK); /* the last place stays empty */
    for (size_t i = 0; i < MANY; i++) {
        connect_both(&connections[i]);
        os_wait_set_put(set, i, connections[i].here, OS_AWAIT_INPUT);
    }
    const int64_t begin_ns = os_now_ns();
    assert_int_equal(os_wait_set_wait(set, 20LL * MS), OS_TIMED_OUT);
    assert_true(os_now_ns() >= begin_ns + 20LL * MS);

    send_all(connections[3].there, &byte, 1);
    send_all(connections[4].there, &byte, 1);
    os_network_close(&connections[40].there);
    os_wait_set_put(set, 4, connections[4].here, OS_AWAIT_NOTHING);
    os_wait_set_put(set, 5, connections[5].here, OS_AWAIT_OUTPUT);
    assert_int_equal(os_wait_set_wait(set, patience_ns), OS_OK);
    for (size_t i = 0; i < MANY + 1; i++) {
        assert_int_equal(os_wait_set_is_ready(set, i), i == 3 || i == 5 || i == 40);
    }

    receive_all(connections[3].here, &byte, 1);
    os_wait_set_put(set, 5, connections[5].here, OS_AWAIT_INPUT);
    os_wait_set_put(set, 40, connections[40].here, OS_AWAIT_NOTHING);
    assert_int_equal(os_wait_set_wait(set, 0), OS_TIMED_OUT);
    assert_false(os_wait_set_is_ready(set, 3));
    for (size_t i = 0; i < MANY; i++) {
        disconnect(&connections[i]);
    }
    os_wait_set_destroy(set);
}

struct waiting {
    struct os_socket socket;
    _Atomic bool begun;
    _Atomic bool ended;
    enum os_status status;
};

static void receive_nothing(void *argument)
{
    struct waiting *const waiting = argument;
    uint8_t byte = 0;
    size_t received = 0;
    waiting->begun = true;
    waiting->status = os_network_receive(waiting->socket, &byte, 1, patience_ns, &received);
    waiting->ended = true;
}

static void wait_for_nobody(void *argument)
{
    struct waiting *const waiting = argument;
    struct os_wait_set *set = NULL;
    waiting->status = os_wait_set_create(&set, 1);
    os_wait_set_put(set, 0, waiting->socket, OS_AWAIT_INPUT);
    waiting->begun = true;
    waiting->status = os_wait_set_wait(set, patience_ns);
    assert_false(os_wait_set_is_ready(set, 0));
    waiting->ended = true;
    os_wait_set_destroy(set);
}

static void a_wait_can_be_interrupted(void **state)
{
    (void)state;
    static const os_thread_entry entries[] = {receive_nothing, wait_for_nobody};
    assert_int_equal(os_stop_listen(), OS_OK);
    for (size_t i = 0; i < 2; i++) {
        struct connection connection;
        struct os_thread *thread = NULL;
        connect_both(&connection);
        struct waiting waiting = {.socket = connection.here};
        assert_int_equal(os_thread_create(&thread, &ordinary, entries[i], &waiting), OS_OK);
        while (!waiting.begun) {
            os_sleep_until(os_now_ns() + MS);
        }
        while (!waiting.ended) { /* once may come too early */
            os_thread_interrupt(thread);
            os_sleep_until(os_now_ns() + MS);
        }
        assert_int_equal(os_thread_join(thread), OS_OK);
        assert_int_equal(waiting.status, OS_INTERRUPTED);
        disconnect(&connection);
    }
}

static void room_for_sockets_is_asked_for_before_they_are_made(void **state)
{
    (void)state;
    uint64_t most = 0;
    assert_int_equal(os_network_allow(2, &most), OS_OK);
    assert_true(most >= 2);
    uint64_t more = 0;
    const enum os_status status = os_network_allow(UINT64_C(1) << 40, &more);
    assert_true(status == OS_NO_MEMORY || more == UINT64_MAX);
    assert_true(more >= most);
}

TESTS(cmocka_unit_test(only_numbers_are_addresses),
      cmocka_unit_test(what_is_sent_arrives_in_order_over_ip4_and_ip6),
      cmocka_unit_test(waiting_in_vain_ends_after_its_time),
      cmocka_unit_test(a_connection_that_nobody_reads_takes_only_so_much),
      cmocka_unit_test(who_went_away_is_told_apart_from_silence),
      cmocka_unit_test(what_can_not_be_reached_says_why),
      cmocka_unit_test(connecting_in_vain_ends_after_its_time),
      cmocka_unit_test(a_port_is_free_again_at_once),
      cmocka_unit_test(only_those_that_are_ready_are_told),
      cmocka_unit_test(a_wait_can_be_interrupted),
      cmocka_unit_test(room_for_sockets_is_asked_for_before_they_are_made))
