/* What is sent of a tire that moves, received with the system's own sockets and read byte by byte. */
#include "os/network.h"
#include "tire/live.h"
#include "test/check.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MS = 1000000, PATIENCE_MS = 10000, PERIOD_NS = MS, FAR_AHEAD_NS = 1000 * MS, MOST_DATAGRAM = 2048 };

/* ---- A receiver --------------------------------------------------------- */

struct datagram {
    ssize_t bytes;
    uint8_t data[MOST_DATAGRAM];
};

static int receiver_open(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int large = 1 << 20;
    const int file = socket(AF_INET, SOCK_DGRAM, 0);
    assert_true(file >= 0);
    assert_int_equal(setsockopt(file, SOL_SOCKET, SO_RCVBUF, &large, sizeof large), 0);
    assert_int_equal(bind(file, (struct sockaddr *)&address, length), 0);
    assert_int_equal(getsockname(file, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    return file;
}

static bool receive(int file, int patience_ms, struct datagram *datagram)
{
    memset(datagram, 0, sizeof *datagram);
    struct pollfd waiting = {.fd = file, .events = POLLIN};
    if (poll(&waiting, 1, patience_ms) != 1) {
        return false;
    }
    datagram->bytes = recv(file, datagram->data, sizeof datagram->data, 0);
    assert_true(datagram->bytes >= LIVE_HEADER_BYTES);
    return true;
}

static uint64_t number(const struct datagram *datagram, size_t at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = bytes; i-- > 0;) {
        value = value << 8 | datagram->data[at + i];
    }
    return value;
}

/* Where docs/tire-view.md says that they are. */
static uint32_t version(const struct datagram *d) { return (uint32_t)number(d, 4, 2); }
static uint32_t positions(const struct datagram *d) { return (uint32_t)number(d, 6, 2); }
static uint32_t sequence(const struct datagram *d) { return (uint32_t)number(d, 8, 4); }
static uint32_t stride(const struct datagram *d) { return (uint32_t)number(d, 12, 4); }
static uint32_t nodes(const struct datagram *d) { return (uint32_t)number(d, 16, 4); }
static uint64_t step(const struct datagram *d) { return number(d, 32, 8); }
static uint64_t steps(const struct datagram *d) { return number(d, 40, 8); }
static int64_t step_ns(const struct datagram *d) { return (int64_t)number(d, 80, 8); }
static int64_t dispatch_ns(const struct datagram *d) { return (int64_t)number(d, 88, 8); }
static int64_t worst_step_ns(const struct datagram *d) { return (int64_t)number(d, 96, 8); }

static void xy_of(const struct datagram *datagram, float *xy_m)
{
    for (uint32_t i = 0; i < 2 * positions(datagram); i++) {
        const uint32_t bits = (uint32_t)number(datagram, LIVE_HEADER_BYTES + 4 * (size_t)i, 4);
        memcpy(&xy_m[i], &bits, sizeof bits);
    }
}

/* ---- A tire that is sent ------------------------------------------------ */

struct shown {
    struct tire_model model;
    struct tire *tire;
    struct live *live;
    int receiver;
    uint32_t threads;
};

static struct tire *tire_of(const struct tire_model *model, enum tire_solver_kind kind, uint32_t threads)
{
    struct tire *tire = NULL;
    assert_int_equal(tire_create(&tire, model, kind, threads), OS_OK);
    return tire;
}

static void show(struct shown *shown, int64_t node_count, uint32_t threads)
{
    const struct tire_parameters parameters = {
        .nodes = node_count, .step_ns = PERIOD_NS, .drop_m = 0.5, .gravity = true};
    static const int32_t none[] = {0};
    shown->model = tire_model_of(&parameters);
    shown->tire = tire_of(&shown->model, TIRE_HALO, threads);
    shown->threads = threads;
    struct live_options options = {
        .to.host = "127.0.0.1",
        .tire = shown->tire,
        .nodes = node_count,
        .radius_m = shown->model.radius_m,
        .solver = TIRE_HALO,
        .threads = threads,
        .period_ns = PERIOD_NS,
        .measured_cpus = none,
        .measured_cpu_count = 1,
    };
    shown->receiver = receiver_open(&options.to.port);
    assert_int_equal(live_open(&shown->live, &options), OS_OK);
}

static void close_all(struct shown *shown)
{
    tire_destroy(shown->tire);
    close(shown->receiver);
}

static struct live_step step_number(uint64_t done, int64_t left_ns)
{
    const int64_t now_ns = os_now_ns();
    return (struct live_step){
        .steps = done,
        .released = done,
        .scheduled_ns = now_ns,
        .dispatch_ns = 3000,
        .step_ns = 70000,
        .next_ns = now_ns + left_ns,
    };
}

/* Tells of this step again and again, until a datagram says that it was heard. */
static void note_until_told(const struct shown *shown, struct live_step note, struct datagram *told)
{
    do {
        note.next_ns += os_now_ns() - note.scheduled_ns;
        live_note(shown->live, &note);
    } while (!receive(shown->receiver, 1, told) || steps(told) < note.steps);
}

/* ---- Tests -------------------------------------------------------------- */

static void a_destination_is_an_address_and_a_port(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",       "10.0.0.2",      "10.0.0.2:",  "10.0.0.2:0", "10.0.0.2:65536", "10.0.0.2:99999999999", "localhost:80",
        "::1:80", "[::1]",         "[]:80",      ":80",        "10.0.0.2:8x",    "10.0.0.2:-1",          "[10.0.0.2:80",
        "[::1]x:80",
    };
    struct live_destination to;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(live_destination_read(wrong[i], &to));
    }
    assert_true(live_destination_read("10.0.0.2:5005", &to));
    assert_string_equal(to.host, "10.0.0.2");
    assert_int_equal(to.port, 5005);
    assert_true(live_destination_read("[fe80::17]:65535", &to));
    assert_string_equal(to.host, "fe80::17");
    assert_int_equal(to.port, 65535);
}

static void the_first_datagram_is_the_tire_before_it_falls(void **state)
{
    (void)state;
    struct shown shown;
    struct datagram first;
    float xy_m[16];
    show(&shown, 8, 1);
    assert_true(receive(shown.receiver, PATIENCE_MS, &first));
    assert_memory_equal(first.data, "TIRE", 4);
    assert_int_equal(version(&first), 1);
    assert_int_equal(positions(&first), 8);
    assert_int_equal(first.bytes, LIVE_HEADER_BYTES + 8 * 8);
    assert_int_equal(sequence(&first), 0);
    assert_int_equal(stride(&first), 1);
    assert_int_equal(nodes(&first), 8);
    assert_int_equal(number(&first, 20, 4), 300000); /* um */
    assert_int_equal(number(&first, 24, 2), 1);
    assert_int_equal(number(&first, 26, 2), TIRE_HALO);
    assert_int_equal(step(&first), 0);
    assert_int_equal(steps(&first), 0);
    assert_int_equal(number(&first, 72, 8), PERIOD_NS);
    assert_int_equal(step_ns(&first), 0);
    xy_of(&first, xy_m);
    for (int64_t i = 0; i < 8; i++) {
        double x_m = 0;
        double y_m = 0;
        tire_model_place(&shown.model, i, &x_m, &y_m);
        assert_true(xy_m[2 * i] == (float)x_m && xy_m[2 * i + 1] == (float)y_m);
    }
    (void)live_close(shown.live);
    close_all(&shown);
}

static void the_worst_times_of_all_steps_since_the_last_datagram_are_told_once(void **state)
{
    (void)state;
    struct shown shown;
    struct datagram told;
    show(&shown, 8, 1);
    assert_true(receive(shown.receiver, PATIENCE_MS, &told));

    struct live_step note = step_number(1, FAR_AHEAD_NS);
    note.missed = 5;
    note.released = 9;
    note_until_told(&shown, note, &told);
    const int64_t usual_ns = step_ns(&told);
    assert_int_equal(usual_ns, 70000);
    assert_int_equal(dispatch_ns(&told), 3000);
    assert_int_equal(number(&told, 48, 8), 9);
    assert_int_equal(number(&told, 56, 8), 5);

    struct live_step slow = step_number(2, FAR_AHEAD_NS);
    slow.step_ns = 900000;
    live_note(shown.live, &slow); /* not asked for, or told at once: in both cases exactly one datagram has it */
    uint64_t with_it = 0;
    for (uint64_t done = 3; done < 6; done++) {
        note_until_told(&shown, step_number(done, FAR_AHEAD_NS), &told);
        with_it += step_ns(&told) == 900000;
        assert_true(step_ns(&told) == 900000 || step_ns(&told) == 70000);
        assert_int_equal(worst_step_ns(&told), 900000);
    }
    assert_true(with_it <= 1);
    (void)live_close(shown.live);
    close_all(&shown);
}

static void where_a_step_leaves_no_time_the_numbers_go_on_and_the_positions_stay(void **state)
{
    (void)state;
    struct shown shown;
    struct datagram told;
    show(&shown, 64, 1);
    assert_true(receive(shown.receiver, PATIENCE_MS, &told));
    for (uint64_t done = 0; done < 20; done++) {
        tire_step(shown.tire, 0, done, NULL);
    }
    note_until_told(&shown, step_number(20, 0), &told);
    assert_int_equal(steps(&told), 20);
    assert_int_equal(step(&told), 0);
    note_until_told(&shown, step_number(21, FAR_AHEAD_NS), &told); /* step 21 is due far ahead */
    assert_int_equal(step(&told), 21);
    (void)live_close(shown.live);
    close_all(&shown);
}

static void of_a_large_tire_as_many_masses_are_sent_as_fit_one_datagram(void **state)
{
    (void)state;
    static const int64_t sizes[] = {160, 164, 400, 5900, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct shown shown;
        struct datagram first;
        show(&shown, sizes[i], 1);
        assert_true(receive(shown.receiver, PATIENCE_MS, &first));
        assert_true(first.bytes <= LIVE_MOST_BYTES && LIVE_MOST_BYTES <= 1400);
        assert_true(positions(&first) > LIVE_MOST_POSITIONS / 2 && positions(&first) <= LIVE_MOST_POSITIONS);
        assert_true((int64_t)stride(&first) * (positions(&first) - 1) < sizes[i]);
        assert_true((int64_t)stride(&first) * positions(&first) >= sizes[i]);
        (void)live_close(shown.live);
        close_all(&shown);
    }
}

static void the_end_is_told_with_the_last_state_and_three_times(void **state)
{
    (void)state;
    struct shown shown;
    struct datagram told;
    show(&shown, 64, 1);
    for (uint64_t done = 1; done <= 50; done++) {
        tire_step(shown.tire, 0, done - 1, NULL);
        const struct live_step note = step_number(done, FAR_AHEAD_NS);
        live_note(shown.live, &note);
    }
    const struct live_counts counts = live_close(shown.live);
    assert_int_equal(counts.unsent, 0);
    uint64_t last_step = 0;
    uint32_t over = 0;
    uint32_t received = 0;
    while (receive(shown.receiver, 0, &told)) {
        assert_int_equal(sequence(&told), received);
        assert_true(over == 0 || positions(&told) == 0);
        last_step = step(&told);
        over += positions(&told) == 0;
        received++;
    }
    assert_int_equal(last_step, 50);
    assert_int_equal(over, 3);
    assert_int_equal(counts.sent, received);
    close_all(&shown);
}

static void that_nobody_is_there_disturbs_nothing(void **state)
{
    (void)state;
    struct shown shown;
    show(&shown, 64, 1);
    close(shown.receiver);
    for (uint64_t done = 1; done <= 30; done++) {
        const struct live_step note = step_number(done, FAR_AHEAD_NS);
        live_note(shown.live, &note);
        os_sleep_until(os_now_ns() + 2LL * MS);
    }
    const struct live_counts counts = live_close(shown.live);
    assert_true(counts.sent + counts.unsent >= 4);
    tire_destroy(shown.tire);
}

/* ---- A solver that never rests ------------------------------------------ */

struct team {
    struct shown shown;
    struct os_barrier *barrier;
    uint64_t done; /* the barrier orders it */
    atomic_bool stop;
    bool ends; /* as done */
};

struct member {
    struct team *team;
    uint32_t thread;
};

static void solve(void *argument)
{
    const struct member *const member = argument;
    struct team *const team = member->team;
    for (uint64_t at = 0; !team->ends; at++) {
        tire_step(team->shown.tire, member->thread, at, NULL);
        if (os_barrier_meet(team->barrier)) {
            const struct live_step note = step_number(++team->done, FAR_AHEAD_NS);
            team->ends = atomic_load(&team->stop);
            live_note(team->shown.live, &note); /* before the others are in the next step */
            os_barrier_open(team->barrier);
        }
    }
}

/* Whatever arrives is exactly the state after the step that it names, also with threads that go on at once. */
static void every_state_that_is_sent_is_one_whole_step(void **state)
{
    (void)state;
    enum { NODES = 404, MEMBERS = 2, DATAGRAMS = 60 };
    static const struct os_thread_attributes ordinary = {.name = "test", .cpu = OS_CPU_ANY};
    struct team team = {.barrier = NULL};
    struct member members[MEMBERS];
    struct os_thread *threads[MEMBERS];
    struct datagram told;
    uint64_t compared = 0;
    uint64_t reached = 0;
    float expected[2 * LIVE_MOST_POSITIONS];
    float xy_m[2 * LIVE_MOST_POSITIONS];

    show(&team.shown, NODES, MEMBERS);
    struct tire *const reference = tire_of(&team.shown.model, TIRE_SINGLE, 1);
    assert_int_equal(os_barrier_create(&team.barrier, MEMBERS, MS), OS_OK);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        members[i] = (struct member){.team = &team, .thread = i};
        assert_int_equal(os_thread_create(&threads[i], &ordinary, solve, &members[i]), OS_OK);
    }
    while (compared < DATAGRAMS) {
        assert_true(receive(team.shown.receiver, PATIENCE_MS, &told));
        assert_int_equal(sequence(&told), compared);
        for (; reached < step(&told); reached++) {
            tire_step(reference, 0, reached, NULL);
        }
        tire_read_coarsely(reference, reached, stride(&told), expected);
        xy_of(&told, xy_m);
        assert_memory_equal(xy_m, expected, 2 * sizeof(float) * positions(&told));
        compared++;
    }
    assert_true(reached > DATAGRAMS);
    atomic_store(&team.stop, true);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        assert_int_equal(os_thread_join(threads[i]), OS_OK);
    }
    (void)live_close(team.shown.live);
    os_barrier_destroy(team.barrier);
    tire_destroy(reference);
    close_all(&team.shown);
}

TESTS(cmocka_unit_test(a_destination_is_an_address_and_a_port),
      cmocka_unit_test(the_first_datagram_is_the_tire_before_it_falls),
      cmocka_unit_test(the_worst_times_of_all_steps_since_the_last_datagram_are_told_once),
      cmocka_unit_test(where_a_step_leaves_no_time_the_numbers_go_on_and_the_positions_stay),
      cmocka_unit_test(of_a_large_tire_as_many_masses_are_sent_as_fit_one_datagram),
      cmocka_unit_test(the_end_is_told_with_the_last_state_and_three_times),
      cmocka_unit_test(that_nobody_is_there_disturbs_nothing),
      cmocka_unit_test(every_state_that_is_sent_is_one_whole_step))
