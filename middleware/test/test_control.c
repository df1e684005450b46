/* Lines between client and server over the loopback: whole, in pieces, too long, and their end. */
#include "control.h"
#include "test/check.h"

#include <string.h>

enum { MS = 1000000, LINES = 400 };
static const int64_t patience_ns = 10000000000;

struct pair {
    struct control here;
    struct control there;
};

static void meet(struct pair *pair)
{
    struct os_socket listening;
    struct os_socket here;
    struct os_socket there;
    uint16_t port = 0;
    assert_int_equal(os_network_listen(&listening, os_network_loopback(), 0, 1), OS_OK);
    assert_int_equal(os_network_port(listening, &port), OS_OK);
    assert_int_equal(os_network_connect(&here, os_network_loopback(), port, patience_ns), OS_OK);
    assert_int_equal(os_network_accept(listening, patience_ns, &there), OS_OK);
    os_network_close(&listening);
    control_begin(&pair->here, here);
    control_begin(&pair->there, there);
}

static void part(struct pair *pair)
{
    control_end(&pair->here);
    control_end(&pair->there);
    control_end(&pair->there); /* again: nothing is left to end */
}

static void send_bytes(struct pair *pair, const char *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        size_t sent = 0;
        assert_int_equal(os_network_send(pair->here.socket, bytes + done, count - done, patience_ns, &sent), OS_OK);
        done += sent;
    }
}

static void hears(struct pair *pair, const char *expected)
{
    char *line = NULL;
    assert_int_equal(control_hear(&pair->there, patience_ns, &line), OS_OK);
    assert_string_equal(line, expected);
}

static void lines_come_as_they_were_said(void **state)
{
    (void)state;
    struct pair pair;
    meet(&pair);
    assert_int_equal(control_say(&pair.here, "servant %d %s", 7, "fifo"), OS_OK);
    assert_int_equal(control_say(&pair.here, "%s", ""), OS_OK);
    assert_int_equal(control_say(&pair.here, "ready"), OS_OK);
    hears(&pair, "servant 7 fifo");
    hears(&pair, "");
    hears(&pair, "ready");
    part(&pair);
}

static void many_lines_pass_through_a_small_buffer(void **state)
{
    (void)state;
    struct pair pair;
    meet(&pair);
    for (int i = 0; i < LINES; i++) {
        assert_int_equal(control_say(&pair.here, "%d of these lines, which together are longer than any buffer", i),
                         OS_OK);
    }
    for (int i = 0; i < LINES; i++) {
        char *line = NULL;
        int64_t number = -1;
        assert_int_equal(control_hear(&pair.there, patience_ns, &line), OS_OK);
        assert_true(control_number(control_word(&line), &number));
        assert_int_equal(number, i);
    }
    part(&pair);
}

static void a_line_in_pieces_is_one_line(void **state)
{
    (void)state;
    struct pair pair;
    char *line = NULL;
    meet(&pair);
    send_bytes(&pair, "serv", 4);
    assert_int_equal(control_hear(&pair.there, 2LL * MS, &line), OS_TIMED_OUT);
    send_bytes(&pair, "ed\nre", 5);
    hears(&pair, "served");
    assert_int_equal(control_hear(&pair.there, 0, &line), OS_TIMED_OUT);
    send_bytes(&pair, "ady\n", 4);
    hears(&pair, "ready");
    part(&pair);
}

static void the_longest_line_passes_and_a_longer_one_is_refused(void **state)
{
    (void)state;
    struct pair pair;
    char text[CONTROL_LINE_BYTES + 1];
    char *line = NULL;
    memset(text, 'x', sizeof text);
    text[CONTROL_LINE_BYTES - 2] = '\0';
    meet(&pair);
    assert_int_equal(control_say(&pair.here, "%s", text), OS_OK);
    hears(&pair, text);
    text[CONTROL_LINE_BYTES - 2] = 'x';
    text[CONTROL_LINE_BYTES] = '\0';
    assert_int_equal(control_say(&pair.here, "%s", text), OS_INVALID); /* nothing of it is sent */
    assert_int_equal(control_hear(&pair.there, 2LL * MS, &line), OS_TIMED_OUT);
    send_bytes(&pair, text, CONTROL_LINE_BYTES);
    assert_int_equal(control_hear(&pair.there, patience_ns, &line), OS_INVALID);
    part(&pair);
}

static void whoever_has_gone_is_noticed_and_what_it_said_is_kept(void **state)
{
    (void)state;
    struct pair pair;
    char *line = NULL;
    meet(&pair);
    assert_false(control_is_over(&pair.there));
    assert_int_equal(control_say(&pair.here, "last words"), OS_OK);
    assert_false(control_is_over(&pair.there));
    control_end(&pair.here);
    hears(&pair, "last words");
    assert_int_equal(control_hear(&pair.there, patience_ns, &line), OS_CLOSED);
    assert_true(control_is_over(&pair.there));
    part(&pair);
}

static void words_are_taken_one_by_one(void **state)
{
    (void)state;
    char text[] = "thread  3 fifo -1 ";
    char *line = text;
    int64_t number = 0;
    assert_string_equal(control_word(&line), "thread");
    assert_true(control_number(control_word(&line), &number));
    assert_int_equal(number, 3);
    assert_string_equal(control_word(&line), "fifo");
    assert_true(control_number(control_word(&line), &number));
    assert_int_equal(number, -1);
    assert_string_equal(control_word(&line), "");
    assert_string_equal(control_word(&line), "");
    assert_false(control_number("", &number));
    assert_false(control_number("any", &number));
    assert_false(control_number("3x", &number));
}

static void addresses_are_read_and_written(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *host;
        uint16_t port;
    } good[] = {
        {"127.0.0.1:4711", "127.0.0.1", 4711},
        {"[::1]:1", "::1", 1},
        {"[fe80::12]:65535", "fe80::12", 65535},
    };
    static const char *const wrong[] = {
        "", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:http", "localhost:80",
        "[]:80", ":80", "[::1]80", "10.0.0.256:80", "127.0.0.1:99999999999999999999",
        "1111111111111111111111111111111111111111111111111111111111111111111111111111:80",
    };
    char host[HOST_BYTES];
    char text[2 * HOST_BYTES];
    uint16_t port = 0;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(control_address_read(good[i].text, host, &port));
        assert_string_equal(host, good[i].host);
        assert_int_equal(port, good[i].port);
        control_address_write(text, sizeof text, host, port);
        assert_string_equal(text, good[i].text);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(control_address_read(wrong[i], host, &port));
    }
}

TESTS(cmocka_unit_test(lines_come_as_they_were_said), cmocka_unit_test(many_lines_pass_through_a_small_buffer),
      cmocka_unit_test(a_line_in_pieces_is_one_line),
      cmocka_unit_test(the_longest_line_passes_and_a_longer_one_is_refused),
      cmocka_unit_test(whoever_has_gone_is_noticed_and_what_it_said_is_kept),
      cmocka_unit_test(words_are_taken_one_by_one), cmocka_unit_test(addresses_are_read_and_written))
