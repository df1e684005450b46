#include "tire/live.h"

#include "os/network.h"

#include <stdatomic.h>
#include <string.h>

enum {
    CACHE_LINE = 64,
    INTERVAL_MS = 10,
    NS_PER_MS = 1000000,
    MOST_ROOM_NS = 100000, /* several times what a copy takes, also of millions of masses */
    TIMES_OVER = 3,        /* any one of them may be lost */
    MAGIC = 0x45524954,    /* "TIRE" */
    FORMAT_VERSION = 1,
    HIGHEST_PORT = 65535,
    CPUS_MOST = 1024,
};

/* What a datagram says. */
struct state {
    struct live_step last;
    int64_t step_ns; /* the worst ones since the state before */
    int64_t dispatch_ns;
    int64_t worst_step_ns; /* the worst ones of all */
    int64_t worst_dispatch_ns;
    uint64_t positions_after; /* so many steps */
    float xy_m[2 * LIVE_MOST_POSITIONS];
};

/* Three parts that nobody else looks at, and the flag that says whose `state` is. */
struct live {
    struct live_options options;
    uint32_t stride;
    uint32_t positions;
    int64_t room_ns; /* that must be left until the next release */

    /* Set: the solver writes `state`. Down: the sender reads it. */
    _Alignas(CACHE_LINE) atomic_bool wanted;
    _Alignas(CACHE_LINE) struct state state;

    /* The solver's, always. */
    _Alignas(CACHE_LINE) struct live_step last;
    int64_t step_ns;
    int64_t dispatch_ns;

    /* The sender's. */
    _Alignas(CACHE_LINE) struct os_thread *thread;
    struct os_socket socket;
    uint32_t run;
    uint32_t sequence;
    struct live_counts counts;
    atomic_bool over; /* set by who closes, when the solver has ended */
};

bool live_destination_read(const char *text, struct live_destination *destination)
{
    const char *const colon = strrchr(text, ':');
    if (colon == NULL) {
        return false;
    }
    size_t length = (size_t)(colon - text);
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    } else if (memchr(text, ':', length) != NULL) {
        return false; /* of IPv6 without brackets nobody knows where the port begins */
    }
    if (length == 0 || length >= sizeof destination->host) {
        return false;
    }
    memcpy(destination->host, text, length);
    destination->host[length] = '\0';
    uint32_t port = 0;
    for (const char *digit = colon + 1; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9' || port > HIGHEST_PORT) {
            return false;
        }
        port = 10 * port + (uint32_t)(*digit - '0');
    }
    destination->port = (uint16_t)port;
    return port >= 1 && port <= HIGHEST_PORT && os_network_is_address(destination->host);
}

/* ---- The solver's side -------------------------------------------------- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void write_state(struct live *live, bool with_positions)
{
    struct state *const state = &live->state;
    state->last = live->last;
    state->step_ns = live->step_ns;
    state->dispatch_ns = live->dispatch_ns;
    state->worst_step_ns = larger(state->worst_step_ns, live->step_ns);
    state->worst_dispatch_ns = larger(state->worst_dispatch_ns, live->dispatch_ns);
    live->step_ns = 0;
    live->dispatch_ns = 0;
    if (with_positions) {
        state->positions_after = live->last.steps;
        tire_read_coarsely(live->options.tire, live->last.steps, live->stride, state->xy_m);
    }
}

void live_note(struct live *live, const struct live_step *step)
{
    live->last = *step;
    live->step_ns = larger(live->step_ns, step->step_ns);
    live->dispatch_ns = larger(live->dispatch_ns, step->dispatch_ns);
    if (atomic_load_explicit(&live->wanted, memory_order_acquire)) {
        write_state(live, step->next_ns - os_now_ns() >= live->room_ns);
        atomic_store_explicit(&live->wanted, false, memory_order_release);
    }
}

/* ---- The sender's side -------------------------------------------------- */

static uint8_t *write_number(uint8_t *at, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(number >> (8 * i));
    }
    return at + bytes;
}

static uint8_t *write_signed(uint8_t *at, int64_t number)
{
    return write_number(at, (uint64_t)number, sizeof number);
}

/* Returns its length. */
static size_t write_datagram(struct live *live, uint8_t *datagram, uint32_t positions)
{
    const struct live_options *const options = &live->options;
    const struct state *const state = &live->state;
    uint8_t *at = write_number(datagram, MAGIC, 4);
    at = write_number(at, FORMAT_VERSION, 2);
    at = write_number(at, positions, 2);
    at = write_number(at, live->sequence, 4);
    at = write_number(at, live->stride, 4);
    at = write_number(at, (uint64_t)options->nodes, 4);
    at = write_number(at, (uint64_t)(options->radius_m * 1e6 + 0.5), 4);
    at = write_number(at, options->threads, 2);
    at = write_number(at, (uint64_t)options->solver, 2);
    at = write_number(at, live->run, 4);
    at = write_number(at, state->positions_after, 8);
    at = write_number(at, state->last.steps, 8);
    at = write_number(at, state->last.released, 8);
    at = write_number(at, state->last.missed, 8);
    at = write_signed(at, state->last.scheduled_ns);
    at = write_signed(at, options->period_ns);
    at = write_signed(at, state->step_ns);
    at = write_signed(at, state->dispatch_ns);
    at = write_signed(at, state->worst_step_ns);
    at = write_signed(at, state->worst_dispatch_ns);
    for (uint32_t i = 0; i < 2 * positions; i++) {
        uint32_t bits = 0;
        memcpy(&bits, &state->xy_m[i], sizeof bits);
        at = write_number(at, bits, 4);
    }
    return (size_t)(at - datagram);
}

/* A datagram that the system does not take is lost like one on the way: its number is used up. */
static void send_state(struct live *live, uint32_t positions)
{
    uint8_t datagram[LIVE_MOST_BYTES];
    const size_t bytes = write_datagram(live, datagram, positions);
    enum os_status status = os_datagram_send(live->socket, datagram, bytes);
    if (status == OS_REFUSED) { /* about an earlier one */
        status = os_datagram_send(live->socket, datagram, bytes);
    }
    live->sequence++;
    if (status == OS_OK) {
        live->counts.sent++;
    } else {
        live->counts.unsent++;
        live->counts.why = status;
    }
}

/* Where nothing is measured, if there is such a CPU. */
static void keep_off_measured_cpus(const struct live_options *options)
{
    int32_t cpus[CPUS_MOST];
    uint32_t count = 0;
    for (int32_t cpu = 0; cpu < os_cpu_limit() && count < CPUS_MOST; cpu++) {
        bool is_free = os_cpu_is_online(cpu) && os_cpu_is_inherited(cpu);
        for (uint32_t i = 0; i < options->measured_cpu_count; i++) {
            is_free = is_free && options->measured_cpus[i] != cpu;
        }
        if (is_free) {
            cpus[count++] = cpu;
        }
    }
    if (count > 0) {
        (void)os_thread_keep_to(cpus, count); /* refused: it stays where it may run anyway */
    }
}

static void send_states(void *argument)
{
    struct live *const live = argument;
    keep_off_measured_cpus(&live->options);
    while (!atomic_load(&live->over)) {
        if (!atomic_load_explicit(&live->wanted, memory_order_acquire)) {
            send_state(live, live->positions);
            atomic_store_explicit(&live->wanted, true, memory_order_release);
        }
        os_sleep_until(os_now_ns() + (int64_t)INTERVAL_MS * NS_PER_MS);
    }
}

/* ---- Both --------------------------------------------------------------- */

enum os_status live_open(struct live **made, const struct live_options *options)
{
    static const struct os_thread_attributes ordinary = {.name = "tauto-live", .cpu = OS_CPU_ANY};
    const int64_t nodes = options->nodes;
    void *memory = NULL;
    enum os_status status = os_memory_allocate(&memory, sizeof(struct live));
    if (status != OS_OK) {
        return status;
    }
    struct live *const live = memory;
    live->options = *options;
    live->stride = (uint32_t)((nodes + LIVE_MOST_POSITIONS - 1) / LIVE_MOST_POSITIONS);
    live->positions = (uint32_t)((nodes + live->stride - 1) / live->stride);
    live->room_ns = options->period_ns / 4 < MOST_ROOM_NS ? options->period_ns / 4 : MOST_ROOM_NS;
    live->run = (uint32_t)((uint64_t)os_wall_clock_ns() / NS_PER_MS);
    atomic_init(&live->wanted, false);
    atomic_init(&live->over, false);
    write_state(live, true);
    status = os_datagram_open(&live->socket, options->to.host, options->to.port);
    if (status == OS_OK) {
        status = os_thread_create_ordinary(&live->thread, &ordinary, send_states, live);
    }
    if (status != OS_OK) {
        os_network_close(&live->socket);
        os_memory_free(live, sizeof *live);
        return status;
    }
    *made = live;
    return OS_OK;
}

struct live_counts live_close(struct live *live)
{
    if (live == NULL) {
        return (struct live_counts){.why = OS_OK};
    }
    atomic_store(&live->over, true);
    os_thread_join(live->thread);
    if (!atomic_load(&live->wanted)) { /* told, and not sent yet */
        send_state(live, live->positions);
    }
    write_state(live, true);
    send_state(live, live->positions);
    for (int i = 0; i < TIMES_OVER; i++) {
        send_state(live, 0);
    }
    const struct live_counts counts = live->counts;
    os_network_close(&live->socket);
    os_memory_free(live, sizeof *live);
    return counts;
}
