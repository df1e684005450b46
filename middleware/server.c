/*
 * The command `serve`: opens the transport's servants, tells the client where they are, and answers what the client
 * asks about them (control.h) until it goes away.
 */
#include "server.h"

#include "control.h"
#include "servant.h"

#include "experiment/conditions.h"
#include "experiment/priority.h"
#include "experiment/stage_options.h"
#include "format.h"
#include "message.h"
#include "options.h"
#include "os/identity.h"
#include "os/memory_used.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_MS = 1000000, LOOK_MS = 200, NAME_BYTES = 16, PORT_LIMIT = 65535 };
static const int64_t ns_per_s = 1000000000;

struct server_options {
    int64_t servants;
    int policy; /* enum os_policy */
    int64_t priority;
    int32_t below_highest;
    const char *cpus_text;
    struct cpu_list cpus;
    const char *address;
    int64_t port;
    const char *client; /* NULL: it comes to us */
    int64_t service_time_ns;
    int64_t patience_ns;
    struct conditions conditions;
};

struct server {
    struct server_options options;
    struct servant *servants;
    struct servant *list[SERVANTS_LIMIT]; /* as the transport takes them */
    uint32_t begun;
    struct service service;
    struct control control;
};

static struct os_thread_attributes attributes_of(const struct server_options *options, uint32_t number)
{
    const enum os_policy policy = (enum os_policy)options->policy;
    return (struct os_thread_attributes){
        .name = "tauto-servant",
        .policy = policy,
        .below_highest = os_priority_levels(policy) != 0 ? options->below_highest + (int32_t)number : 0,
        .cpu = options->cpus.cpus[number % options->cpus.count],
    };
}

static bool check_options(struct server_options *options, bool priority_given, int *code)
{
    const enum os_policy policy = (enum os_policy)options->policy;
    const int32_t levels = os_priority_levels(policy) != 0 ? (int32_t)options->servants : 1;
    *code = EXIT_USAGE;
    if (!conditions_check(&options->conditions)) {
        return false;
    }
    if (options->servants < 1 || options->servants > SERVANTS_LIMIT) {
        refuse(EXIT_USAGE, "--servants must lie between 1 and %d.", SERVANTS_LIMIT);
        return false;
    }
    if (options->port > PORT_LIMIT) {
        refuse(EXIT_USAGE, "--control must be a port: at most %d, or 0 for one that is free.", PORT_LIMIT);
        return false;
    }
    if (!os_network_is_address(options->address)) {
        refuse(EXIT_USAGE, "--address %s: write a number (127.0.0.1, ::1): names are not looked up.", options->address);
        return false;
    }
    if (!priority_choose(policy, priority_given, levels, &options->priority, &options->below_highest)) {
        return false;
    }
    *code = cpu_list_read(&options->cpus, options->cpus_text);
    return *code == EXIT_MEASURED;
}

static bool read_options(struct server_options *options, int argc, char **argv, int *code)
{
    *options = (struct server_options){
        .servants = 1,
        .policy = OS_POLICY_FIFO,
        .cpus_text = "any",
        .address = os_network_loopback(),
        .patience_ns = 60 * ns_per_s,
        .conditions = conditions_default(),
    };
    struct option table[] = {
        {"servants", OPTION_COUNT, &options->servants, NULL, "each with an endpoint and a thread [1]", false},
        {"policy", OPTION_CHOICE, &options->policy, stage_policies, "of the threads that serve [fifo]", false},
        {"priority", OPTION_COUNT, &options->priority, NULL, "of servant 0; servant i has i less [90 on Linux]", false},
        {"cpus", OPTION_TEXT, &options->cpus_text, NULL, "where they run, in turn; any: anywhere [any]", false},
        {"address", OPTION_TEXT, &options->address, NULL, "of the interface to be reached at [loopback]", false},
        {"control", OPTION_COUNT, &options->port, NULL, "port for the client's first connection [a free one]", false},
        {"client", OPTION_TEXT, &options->client, NULL, "HOST:PORT: connect to it instead of waiting", false},
        {"service-time", OPTION_DURATION, &options->service_time_ns, NULL, "each request keeps its servant so long [0]",
         false},
        {"patience", OPTION_DURATION, &options->patience_ns, NULL, "to wait for a client [60s]", false},
        {"budget", OPTION_DURATION, &options->conditions.budget_ns, NULL, "longest run without sleep, then stop [2s]",
         false},
        {"no-memory-lock", OPTION_FLAG, &options->conditions.recording.no_memory_lock, NULL,
         "serve with pageable memory", false},
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!options_read_or_help(table, count, argc, argv,
                              "usage: tauto-probe middleware-serve --transport NAME [options]\n\nServes one client, and "
                              "ends with it. Prints the address for the client's --server.\n\n",
                              code)) {
        return false;
    }
    return check_options(options, options_given("priority"), code);
}

/* ---- What the client is told --------------------------------------------- */

static enum os_status say_hello(struct server *server)
{
    char identity[OS_CLOCK_IDENTITY_BYTES];
    os_clock_identity(identity);
    enum os_status status =
        control_say(&server->control, "tautochrone-middleware 1 %s %s", TAUTO_VERSION, the_transport.name);
    if (status == OS_OK) {
        status = control_say(&server->control, "clock %s", identity);
    }
    for (uint32_t i = 0; i < server->service.count && status == OS_OK; i++) {
        const struct os_thread_attributes *const wanted = &server->servants[i].attributes;
        char cpu[NAME_BYTES] = "any";
        if (wanted->cpu != OS_CPU_ANY) {
            format_text(cpu, sizeof cpu, "%" PRId32, wanted->cpu);
        }
        status = control_say(&server->control, "servant %" PRIu32 " %s %" PRId64 " %s %s", i,
                             os_policy_name(wanted->policy),
                             os_priority_to_native(wanted->policy, wanted->below_highest), cpu,
                             server->service.endpoints[i]);
    }
    return status == OS_OK ? control_say(&server->control, "ready") : status;
}

static enum os_status say_failures(struct server *server)
{
    enum os_status status = OS_OK;
    for (uint32_t i = 0; i < server->service.count && status == OS_OK; i++) {
        const char *const why = atomic_load(&server->servants[i].failure);
        if (why != NULL) {
            status = control_say(&server->control, "failed %" PRIu32 " %s", i, why);
        }
    }
    return status;
}

/* As it is now, not as it was when it began to serve. */
static struct serving_thread look_at_thread(struct servant *servant)
{
    struct serving_thread thread = servant_thread(servant);
    if (thread.number != 0) {
        const int64_t timer_slack_ns = thread.obtained.timer_slack_ns;
        os_thread_read_back_of(thread.number, &thread.obtained);
        thread.obtained.timer_slack_ns = timer_slack_ns; /* only the thread itself can tell */
    }
    return thread;
}

static enum os_status say_threads(struct server *server)
{
    enum os_status status = OS_OK;
    for (uint32_t i = 0; i < server->service.count && status == OS_OK; i++) {
        const struct serving_thread thread = look_at_thread(&server->servants[i]);
        status = control_say(&server->control, "thread %" PRIu32 " %" PRId64 " %s %" PRId64 " %" PRId64 " %" PRId64, i,
                             thread.number, os_policy_name(thread.obtained.policy), thread.obtained.native_priority,
                             thread.obtained.cpu, thread.obtained.timer_slack_ns);
    }
    return status;
}

static enum os_status say_served(struct server *server)
{
    enum os_status status = OS_OK;
    for (uint32_t i = 0; i < server->service.count && status == OS_OK; i++) {
        struct servant *const servant = &server->servants[i];
        status = control_say(&server->control, "served %" PRIu32 " %" PRIu64 " %" PRIu64, i,
                             atomic_load_explicit(&servant->two_way, memory_order_acquire),
                             atomic_load_explicit(&servant->one_way, memory_order_acquire));
    }
    return status;
}

static enum os_status say_memory(struct server *server)
{
    struct os_memory_used used;
    os_memory_used_read(&used);
    const struct {
        const char *name;
        int64_t number;
    } lines[] = {
        {"resident", used.resident_bytes},
        {"proportional", used.proportional_bytes},
        {"private", used.private_bytes},
        {"anonymous", used.anonymous_bytes},
        {"locked", used.locked_bytes},
        {"peak", used.peak_bytes},
        {"threads", used.threads},
    };
    enum os_status status = OS_OK;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0] && status == OS_OK; i++) {
        status = lines[i].number == INT64_MIN
                     ? control_say(&server->control, "memory %s unknown", lines[i].name)
                     : control_say(&server->control, "memory %s %" PRId64, lines[i].name, lines[i].number);
    }
    return status;
}

static enum os_status answer(struct server *server, const char *question)
{
    static const struct {
        const char *question;
        enum os_status (*say)(struct server *server);
    } answers[] = {
        {"threads", say_threads},
        {"served", say_served},
        {"memory", say_memory},
    };
    enum os_status status = say_failures(server);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0] && status == OS_OK; i++) {
        if (strcmp(question, answers[i].question) == 0) {
            status = answers[i].say(server);
        }
    }
    return status == OS_OK ? control_say(&server->control, "end") : status;
}

/* Until the client has gone, or somebody asks this program to end. */
static void converse(struct server *server)
{
    enum os_status status = say_hello(server);
    while ((status == OS_OK || status == OS_TIMED_OUT) && os_stop_requested() == OS_STOP_NONE) {
        char *line = NULL;
        status = control_hear(&server->control, (int64_t)LOOK_MS * NS_PER_MS, &line);
        if (status == OS_OK) {
            status = answer(server, line);
        }
    }
}

/* ---- Its beginning -------------------------------------------------------- */

static int meet_waiting_client(struct server *server)
{
    const char *const client = server->options.client;
    const enum os_status status = control_connect(&server->control, client, server->options.patience_ns);
    if (status == OS_INVALID) {
        return refuse(EXIT_USAGE, "--client %s: write HOST:PORT, the host as a number.", client);
    }
    return status == OS_OK ? EXIT_MEASURED
                           : refuse(EXIT_FAILED, "the client at %s can't be reached: %s.", client, os_status_text(status));
}

static int wait_for_client(struct server *server)
{
    const struct server_options *const options = &server->options;
    struct os_socket listening;
    struct os_socket socket;
    char place[HOST_BYTES + NAME_BYTES];
    enum os_status status =
        control_listen(&listening, options->address, (uint16_t)options->port, place, sizeof place);
    if (status != OS_OK) {
        return refuse(EXIT_FAILED, "no client can come to %s, port %" PRId64 ": %s.", options->address, options->port,
                      os_status_text(status));
    }
    const int64_t late_ns = os_now_ns() + options->patience_ns;
    status = print("control %s\n", place) ? OS_TIMED_OUT : OS_CLOSED;
    while ((status == OS_TIMED_OUT || status == OS_INTERRUPTED) && os_now_ns() < late_ns &&
           os_stop_requested() == OS_STOP_NONE) {
        status = os_network_accept(listening, (int64_t)LOOK_MS * NS_PER_MS, &socket);
    }
    os_network_close(&listening);
    if (status != OS_OK) {
        return os_stop_requested() != OS_STOP_NONE ? EXIT_FAILED
                                                   : refuse(EXIT_FAILED, "no client came to %s.", place);
    }
    control_begin(&server->control, socket);
    return EXIT_MEASURED;
}

static int refuse_service(const struct server *server, enum os_status status)
{
    const struct server_options *const options = &server->options;
    if (status == OS_NOT_PERMITTED) {
        return refuse(EXIT_NOT_PERMITTED, "policy %s with priority %" PRId64 " is not permitted to this user.\n%s %s",
                      os_policy_name((enum os_policy)options->policy), options->priority, os_advice_for_policy(),
                      advice_for_ordinary_policy);
    }
    const char *const why = server->service.refusal[0] != '\0' ? server->service.refusal : os_status_text(status);
    return refuse(status == OS_INVALID ? EXIT_USAGE : EXIT_FAILED, "%s can't be served at %s: %s.",
                  the_transport.title, options->address, why);
}

static int serve(struct server *server)
{
    enum os_status status = OS_OK;
    for (uint32_t i = 0; i < server->service.count && status == OS_OK; i++) {
        const struct os_thread_attributes attributes = attributes_of(&server->options, i);
        status = servant_begin(&server->servants[i], i, &attributes, server->options.service_time_ns,
                               server->options.conditions.budget_obtained_ns);
        server->list[i] = &server->servants[i];
        server->begun += status == OS_OK;
    }
    server->service.housekeeping = attributes_of(&server->options, 0);
    if (status == OS_OK) {
        status = the_transport.serve(&server->service);
    }
    if (status != OS_OK) {
        return refuse_service(server, status);
    }
    int code = server->options.client != NULL ? meet_waiting_client(server) : wait_for_client(server);
    if (code == EXIT_MEASURED) {
        converse(server);
        control_end(&server->control);
    }
    if (os_stop_requested() == OS_STOP_WATCHDOG) {
        code = refuse(EXIT_FAILED, "the watchdog ended the service: a thread ran past --budget without once sleeping.\n"
                                   "Did more come than it can handle?");
    }
    the_transport.end_service();
    return code;
}

/* What the middleware starts by itself runs where the servants do. A CPU that only its own group allows can't be asked
 * for here; the servants' threads get there one by one. */
static void keep_to_cpus(const struct server_options *options)
{
    if (options->cpus.cpus[0] != OS_CPU_ANY) {
        (void)os_thread_keep_to(options->cpus.cpus, options->cpus.count);
    }
}

int server_main(int argc, char **argv)
{
    struct server server = {.begun = 0};
    int code = EXIT_MEASURED;
    if (!read_options(&server.options, argc, argv, &code)) {
        return code;
    }
    code = conditions_prepare(&server.options.conditions);
    if (code != EXIT_MEASURED) {
        return code;
    }
    keep_to_cpus(&server.options);
    const size_t count = (size_t)server.options.servants;
    void *memory = NULL;
    server.service = (struct service){.count = (uint32_t)count,
                                      .servants = server.list,
                                      .address = server.options.address,
                                      .endpoints = calloc(count, sizeof *server.service.endpoints)};
    if (server.service.endpoints == NULL ||
        os_memory_allocate(&memory, count * sizeof *server.servants) != OS_OK) {
        code = refuse(EXIT_FAILED, "no memory for %" PRId64 " servants.", server.options.servants);
    } else {
        server.servants = memory; /* on pages: aligned for their cache lines */
        code = serve(&server);
    }
    for (uint32_t i = 0; i < server.begun; i++) {
        servant_end(&server.servants[i]);
    }
    if (memory != NULL) {
        os_memory_free(memory, count * sizeof *server.servants);
    }
    free(server.service.endpoints);
    return code;
}
