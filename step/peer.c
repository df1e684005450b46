#include "peer.h"

#include "os/child.h"

#include "experiment/priority.h"

#include "message.h"
#include "options.h"

#include <inttypes.h>
#include <string.h>

enum { NS_PER_MS = 1000000, LOOK_INTERVAL_MS = 100, USUAL_LAG_MS = 10, WATCHDOG_MS = 2000 };

const char *const peer_plants[] = {"echo", "lag", NULL};

/* What it remembers of the messages so far. */
struct playing {
    struct link *link;
    const struct peer_options *options;
    struct peer_counts counts;
    struct link_message held; /* an answer that waits until another one is sent */
    bool holds;
    double state[LINK_VALUES_LIMIT];
    int64_t before_ns; /* when the last message was sent, 0: there was none */
};

struct peer_options peer_default(void)
{
    return (struct peer_options){.lag_ns = (int64_t)USUAL_LAG_MS * NS_PER_MS};
}

/* Of a first order, each value by itself: what comes out goes towards what goes in (implicit Euler, stable for any step). */
static void lag(struct playing *playing, struct link_message *message, int64_t now_ns)
{
    const int64_t passed_ns = playing->before_ns == 0 || now_ns < playing->before_ns ? 0 : now_ns - playing->before_ns;
    const double share = (double)passed_ns / (double)(passed_ns + playing->options->lag_ns);
    for (uint32_t i = 0; i < message->count; i++) {
        playing->state[i] += share * (message->values[i] - playing->state[i]);
        message->values[i] = playing->state[i];
    }
    playing->before_ns = now_ns;
}

static bool answer(struct playing *playing, const struct link_message *message)
{
    const bool is_sent = link_send(playing->link, message) == OS_OK;
    playing->counts.unsent += !is_sent;
    return is_sent;
}

/* The turns of the three lie apart, so that each is seen beside the others. */
static bool is_turn(int64_t every, int64_t which, uint64_t sequence)
{
    return every > 0 && sequence % (uint64_t)every == (uint64_t)(which % every);
}

static void serve(struct playing *playing, struct link_message *message)
{
    const struct peer_options *const options = playing->options;
    playing->counts.received++;
    if (options->plant == PEER_LAG) {
        lag(playing, message, os_now_ns());
    }
    if (is_turn(options->lose, options->lose - 1, message->sequence)) {
        return;
    }
    if (is_turn(options->swap, 0, message->sequence) && !playing->holds) {
        playing->held = *message;
        playing->holds = true;
        return;
    }
    playing->counts.answered += answer(playing, message);
    if (is_turn(options->twice, 1, message->sequence)) {
        (void)answer(playing, message); /* not another message */
    }
    if (playing->holds) {
        playing->counts.answered += answer(playing, &playing->held);
        playing->holds = false;
    }
}

struct peer_counts peer_play(struct link *link, const struct peer_options *options, struct rest rest)
{
    struct playing playing = {.link = link, .options = options};
    struct link_message message;
    int64_t received_ns = 0;
    while (os_stop_requested() == OS_STOP_NONE) {
        const enum os_status status = link_receive(link, &message, &received_ns);
        if (status == OS_OK) {
            serve(&playing, &message);
        } else if (status == OS_INVALID) {
            playing.counts.foreign++;
        } else {
            link_wait(link, (int64_t)LOOK_INTERVAL_MS * NS_PER_MS);
        }
        rest_when_due(&rest);
    }
    return playing.counts;
}

int peer_open(struct link *link, const struct link_address *address, const char *text)
{
    const char *why = NULL;
    const enum os_status status = link_open(link, address, LINK_PEER, &why);
    if (status == OS_OK) {
        return EXIT_MEASURED;
    }
    return refuse(status == OS_NOT_PERMITTED ? EXIT_NOT_PERMITTED : EXIT_USAGE, "--exchange %s: the peer can't receive there: %s.%s",
                  text, why != NULL ? why : os_status_text(status),
                  status == OS_IN_USE ? "\nAnother program, perhaps another peer, has this port: take another one." : "");
}

struct played {
    struct link link;
    struct peer_options options;
    int32_t cpu; /* that is measured */
};

static void live(void *argument)
{
    struct played *const played = argument;
    struct cpu_list others = {.count = 0};
    for (int32_t cpu = 0; cpu < os_cpu_limit() && others.count < CPU_LIST_LIMIT; cpu++) {
        if (cpu != played->cpu && os_cpu_is_online(cpu) && os_cpu_is_inherited(cpu)) {
            others.cpus[others.count++] = cpu;
        }
    }
    if (others.count > 0) {
        (void)os_thread_keep_to(others.cpus, others.count);
    }
    (void)peer_play(&played->link, &played->options, rest_of(OS_POLICY_OTHER, 0));
}

int peer_start(const struct exchange_options *options, int32_t cpu)
{
    if (options->peer < 0) {
        return EXIT_MEASURED;
    }
    struct played played = {.options = peer_default(), .cpu = cpu};
    struct step_child child;
    const int code = peer_open(&played.link, &options->address, options->text);
    if (code != EXIT_MEASURED) {
        return code;
    }
    played.options.plant = options->peer;
    const enum os_status status = step_child_start(&child, live, &played);
    link_close(&played.link);
    return status == OS_OK ? EXIT_MEASURED : refuse(EXIT_FAILED, "the peer can't be started: %s.", os_status_text(status));
}

/* Whose latency a device measures, where it does. */
struct thread_options {
    int policy; /* enum os_policy */
    int64_t priority;
    int32_t below_highest;
    const char *cpus_text;
};

static const char *const policies[] = {"other", "fifo", "rr", NULL}; /* as enum os_policy */

static int rank(const struct thread_options *options)
{
    struct os_thread_attributes attributes = {.name = "tauto-peer",
                                              .policy = (enum os_policy)options->policy,
                                              .below_highest = options->below_highest,
                                              .cpu = OS_CPU_ANY};
    struct cpu_list list;
    if (options->cpus_text != NULL) {
        const int code = cpu_list_read(&list, options->cpus_text);
        if (code != EXIT_MEASURED || list.count != 1) {
            return code != EXIT_MEASURED ? code : refuse(EXIT_USAGE, "--cpus %s: the peer runs on one CPU.", options->cpus_text);
        }
        attributes.cpu = list.cpus[0];
    }
    if (attributes.policy != OS_POLICY_OTHER) {
        (void)os_memory_lock(); /* where that is not permitted, its first answers are slower */
    }
    const enum os_status status = os_thread_adopt(&attributes);
    return status == OS_OK ? EXIT_MEASURED
                           : priority_refuse_thread(attributes.policy, options->priority, status);
}

static bool read_options(struct peer_options *options, struct exchange_options *exchange, struct thread_options *thread,
                         int argc, char **argv, int *code)
{
    *options = peer_default();
    *exchange = (struct exchange_options){0};
    *thread = (struct thread_options){0};
    struct option table[] = {
        {"exchange", OPTION_TEXT, &exchange->text, NULL,
         "where messages arrive: udp:HOST:PORT, can:INTERFACE, gpio:CHIP:OUT:IN", false},
        {"policy", OPTION_CHOICE, &thread->policy, policies, "scheduling policy of the peer [other]", false},
        {"priority", OPTION_COUNT, &thread->priority, NULL, "the system's own number [90 on Linux]", false},
        {"cpus", OPTION_TEXT, &thread->cpus_text, NULL, "the CPU that it runs on [any]", false},
        {"plant", OPTION_CHOICE, &options->plant, peer_plants, "what the answers are: the outputs, or those delayed [echo]", false},
        {"time-constant", OPTION_DURATION, &options->lag_ns, NULL, "of the plant lag, a first-order lag [10ms]", false},
        {"lose", OPTION_COUNT, &options->lose, NULL, "give every Nth message no answer [0: none]", false},
        {"swap", OPTION_COUNT, &options->swap, NULL, "answer every Nth message after the next one [0: none]", false},
        {"twice", OPTION_COUNT, &options->twice, NULL, "answer every Nth message twice [0: none]", false},
    };
    if (!options_read_or_help(table, sizeof table / sizeof table[0], argc, argv,
                              "usage: tauto-step peer --exchange udp:HOST:PORT [options]\n\nThe other side of `tauto step "
                              "--exchange`: it answers each message at once, until it is ended.\n\n",
                              code)) {
        return false;
    }
    const char *form = NULL;
    if (options->lag_ns <= 0) {
        *code = refuse(EXIT_USAGE, "--time-constant must be longer than 0: --plant echo has no lag.");
        return false;
    }
    if (options_given("time-constant") && options->plant != PEER_LAG) {
        *code = refuse(EXIT_USAGE, "--time-constant is about --plant lag.\nGive that, too, or leave it out.");
        return false;
    }
    if (exchange->text == NULL) {
        *code = refuse(EXIT_USAGE, "name where messages arrive: --exchange udp:HOST:PORT, can:INTERFACE or gpio:CHIP:OUT:IN.");
        return false;
    }
    if (!link_read(&exchange->address, exchange->text, &form)) {
        *code = refuse(EXIT_USAGE, "--exchange %s: it is no address.\nWrite %s.", exchange->text, form);
        return false;
    }
    return priority_choose((enum os_policy)thread->policy, options_given("priority"), 1, &thread->priority,
                           &thread->below_highest);
}

int run_peer(int argc, char **argv)
{
    struct peer_options options;
    struct exchange_options exchange;
    struct thread_options thread;
    struct link link;
    int code = EXIT_MEASURED;
    speak_as("tauto-step");
    if (!read_options(&options, &exchange, &thread, argc, argv, &code)) {
        return code;
    }
    int64_t budget_ns = (int64_t)WATCHDOG_MS * NS_PER_MS;
    enum os_status status = os_stop_listen();
    if (status == OS_OK) {
        status = os_watchdog_start(budget_ns, &budget_ns);
    }
    if (status != OS_OK) {
        return refuse(EXIT_FAILED, "the watchdog can't be started: %s.", os_status_text(status));
    }
    code = peer_open(&link, &exchange.address, exchange.text);
    if (code == EXIT_MEASURED) {
        code = rank(&thread);
    }
    if (code != EXIT_MEASURED) {
        return code;
    }
    print_error("tauto-step peer: answers at %s.\n", exchange.text);
    const struct peer_counts counts = peer_play(&link, &options, rest_of((enum os_policy)thread.policy, budget_ns));
    link_close(&link);
    print("received %" PRIu64 "\nanswered %" PRIu64 "\nforeign %" PRIu64 "\nunsent %" PRIu64 "\n", counts.received,
          counts.answered, counts.foreign, counts.unsent);
    return os_stop_requested() == OS_STOP_WATCHDOG
               ? refuse(EXIT_FAILED, "the watchdog ended the peer: it ran for %d s without once sleeping.", WATCHDOG_MS / 1000)
               : EXIT_MEASURED;
}
