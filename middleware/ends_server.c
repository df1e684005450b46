/* The server as its client sees it: a child process, or one that runs elsewhere. */
#include "ends.h"

#include "format.h"
#include "message.h"
#include "os/process.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_MS = 1000000, START_PATIENCE_S = 20, ANSWER_PATIENCE_S = 5, LOOK_MS = 50, NUMBER_BYTES = 24 };
static const int64_t ns_per_s = 1000000000;

/* ---- A server of our own -------------------------------------------------- */

static enum os_status start_process(struct server_seen *server, const struct ends_options *options, uint32_t servants,
                                    const char *client)
{
    char count[NUMBER_BYTES];
    char priority[NUMBER_BYTES];
    char cpu[NUMBER_BYTES] = "any";
    char service_time[NUMBER_BYTES + 2];
    char budget[NUMBER_BYTES + 2];
    format_text(count, sizeof count, "%" PRIu32, servants);
    format_text(priority, sizeof priority, "%" PRId64, options->priority);
    format_text(service_time, sizeof service_time, "%" PRId64 "ns", options->service_time_ns);
    format_text(budget, sizeof budget, "%" PRId64 "ns", options->conditions.budget_ns);
    if (options->server_cpu != OS_CPU_ANY) {
        format_text(cpu, sizeof cpu, "%" PRId32, options->server_cpu);
    }
    char program[] = "/proc/self/exe";
    char *argv[] = {program,   "serve", "--servants", count, "--client", (char *)client, "--cpus",
                    cpu,       "--policy", (char *)os_policy_name((enum os_policy)options->policy),
                    "--service-time", service_time, "--budget", budget, NULL, NULL, NULL, NULL};
    size_t at = 14;
    if (options->priority != 0) {
        argv[at++] = "--priority";
        argv[at++] = priority;
    }
    if (options->conditions.recording.no_memory_lock) {
        argv[at++] = "--no-memory-lock";
    }
    const struct os_process_attributes attributes = {.argv = argv, .cpu = OS_CPU_ANY, .quiet = true};
    return os_process_start(&server->process, &attributes);
}

/* Its first connection. Where it refuses to serve, it has said why: its exit code is ours. */
static int accept_child(struct server_seen *server, struct os_socket listening)
{
    const int64_t late_ns = os_now_ns() + START_PATIENCE_S * ns_per_s;
    struct os_socket socket;
    enum os_status status = OS_TIMED_OUT;
    while (status == OS_TIMED_OUT || status == OS_INTERRUPTED) {
        int code = EXIT_FAILED;
        if (os_process_has_ended(server->process, &code)) {
            const bool refused = code == EXIT_USAGE || code == EXIT_NOT_PERMITTED;
            return refused ? code : EXIT_FAILED;
        }
        if (os_now_ns() > late_ns || os_stop_requested() != OS_STOP_NONE) {
            return refuse(EXIT_FAILED, "the server did not come up.");
        }
        status = os_network_accept(listening, (int64_t)LOOK_MS * NS_PER_MS, &socket);
    }
    if (status != OS_OK) {
        return refuse(EXIT_FAILED, "the server can't be spoken to: %s.", os_status_text(status));
    }
    control_begin(&server->control, socket);
    return EXIT_MEASURED;
}

static int start_server(struct server_seen *server, const struct ends_options *options, uint32_t servants)
{
    char client[HOST_BYTES + NUMBER_BYTES];
    struct os_socket listening;
    const char *const here = os_network_loopback();
    enum os_status status = control_listen(&listening, here, 0, client, sizeof client);
    if (status != OS_OK) {
        return refuse(EXIT_FAILED, "no server can be spoken to at %s: %s.", here, os_status_text(status));
    }
    status = start_process(server, options, servants, client);
    const int code = status == OS_OK ? accept_child(server, listening)
                                     : refuse(EXIT_FAILED, "the server can't be started: %s.", os_status_text(status));
    os_network_close(&listening);
    return code;
}

static int meet_server(struct server_seen *server, const char *address)
{
    const enum os_status status = control_connect(&server->control, address, ANSWER_PATIENCE_S * ns_per_s);
    return status == OS_OK ? EXIT_MEASURED
                           : refuse(EXIT_FAILED, "--server %s: no server answers there: %s.\n"
                                                 "Does it run there, and does a firewall lie between?",
                                    address, os_status_text(status));
}

/* ---- What it says ---------------------------------------------------------- */

static enum os_policy policy_of(const char *name)
{
    enum os_policy policy = OS_POLICY_OTHER;
    for (int i = OS_POLICY_OTHER; i <= OS_POLICY_DEADLINE; i++) {
        if (strcmp(name, os_policy_name((enum os_policy)i)) == 0) {
            policy = (enum os_policy)i;
        }
    }
    return policy;
}

/* The servant whose number comes next; NULL: there is none of that number. */
static struct servant_seen *servant_of(struct server_seen *server, char **line)
{
    int64_t number = -1;
    if (!control_number(control_word(line), &number) || number < 0 || number >= server->count) {
        return NULL;
    }
    return &server->servants[number];
}

static void take_servant(struct server_seen *server, char *line)
{
    struct servant_seen *const servant = servant_of(server, &line);
    int64_t priority = 0;
    int64_t cpu = OS_CPU_ANY;
    if (servant == NULL) {
        return;
    }
    servant->requested.policy = policy_of(control_word(&line));
    if (control_number(control_word(&line), &priority)) {
        (void)os_priority_from_native(servant->requested.policy, priority, &servant->requested.below_highest);
    }
    (void)(control_number(control_word(&line), &cpu) || (cpu = OS_CPU_ANY) != 0); /* "any" is no number */
    servant->requested.cpu = (int32_t)cpu;
    format_text(servant->endpoint, sizeof servant->endpoint, "%s", control_word(&line));
}

static void take_thread(void *context, char *line)
{
    struct server_seen *const server = context;
    if (strcmp(control_word(&line), "thread") != 0) {
        return;
    }
    struct servant_seen *const servant = servant_of(server, &line);
    if (servant != NULL) {
        (void)control_number(control_word(&line), &servant->thread);
        servant->obtained.policy = policy_of(control_word(&line));
        (void)control_number(control_word(&line), &servant->obtained.native_priority);
        (void)control_number(control_word(&line), &servant->obtained.cpu);
        (void)control_number(control_word(&line), &servant->obtained.timer_slack_ns);
    }
}

static void take_served(void *context, char *line)
{
    struct server_seen *const server = context;
    int64_t two_way = 0;
    int64_t one_way = 0;
    if (strcmp(control_word(&line), "served") != 0) {
        return;
    }
    struct servant_seen *const servant = servant_of(server, &line);
    if (servant != NULL && control_number(control_word(&line), &two_way) &&
        control_number(control_word(&line), &one_way)) {
        servant->two_way = (uint64_t)two_way;
        servant->one_way = (uint64_t)one_way;
    }
}

/* Another version may mean other things by the same words. */
static int check_greeting(char *line)
{
    const bool known = strcmp(control_word(&line), "tautochrone-middleware") == 0 && strcmp(control_word(&line), "1") == 0;
    if (!known) {
        return refuse(EXIT_USAGE, "what listens there is no server of this program.\n"
                                  "Start `tauto-probe middleware-serve`.");
    }
    const char *const version = control_word(&line);
    if (strcmp(version, TAUTO_VERSION) != 0) {
        return refuse(EXIT_USAGE, "the server has version %s, this program %s.\n"
                                  "Use the same on both machines.", version,
                      TAUTO_VERSION);
    }
    const char *const transport = control_word(&line);
    if (strcmp(transport, the_transport.name) != 0) {
        return refuse(EXIT_USAGE, "the server serves %s, not %s.\nStart it with --transport %s.", transport,
                      the_transport.name, the_transport.name);
    }
    return EXIT_MEASURED;
}

static void take_clock(struct server_seen *server, const char *identity)
{
    char ours[OS_CLOCK_IDENTITY_BYTES];
    os_clock_identity(ours);
    server->has_our_clock = strcmp(ours, identity) == 0 && strcmp(ours, "unknown") != 0;
}

static int hear_greeting(struct server_seen *server, uint32_t servants)
{
    uint32_t heard = 0;
    for (uint32_t lines = 0; lines < servants + SERVANTS_LIMIT; lines++) {
        char *line = NULL;
        const enum os_status status = control_hear(&server->control, ANSWER_PATIENCE_S * ns_per_s, &line);
        if (status != OS_OK) {
            return refuse(EXIT_FAILED, "the server went silent: %s.", os_status_text(status));
        }
        if (lines == 0) {
            const int code = check_greeting(line);
            if (code != EXIT_MEASURED) {
                return code;
            }
            continue;
        }
        const char *const word = control_word(&line);
        if (strcmp(word, "ready") == 0) {
            break;
        }
        if (strcmp(word, "clock") == 0) {
            take_clock(server, control_word(&line));
        } else if (strcmp(word, "servant") == 0) {
            heard++;
            take_servant(server, line);
        }
    }
    return heard >= servants ? EXIT_MEASURED
                             : refuse(EXIT_USAGE, "the server has %" PRIu32 " servants, and %" PRIu32 " are needed.\n"
                                                  "Start it with --servants %" PRIu32 ".",
                                      heard, servants, servants);
}

int server_open(struct server_seen *server, const struct ends_options *options, uint32_t servants)
{
    *server = (struct server_seen){.control.socket.handle = OS_NO_SOCKET, .count = servants};
    server->servants = calloc(servants, sizeof *server->servants);
    if (server->servants == NULL || os_mutex_create(&server->guard, OS_MUTEX_NONE, 0) != OS_OK) {
        server_close(server);
        return refuse(EXIT_FAILED, "no memory for %" PRIu32 " servants.", servants);
    }
    int code = options->server != NULL ? meet_server(server, options->server)
                                       : start_server(server, options, servants);
    if (code == EXIT_MEASURED) {
        code = hear_greeting(server, servants);
    }
    if (code != EXIT_MEASURED) {
        server_close(server);
    }
    return code;
}

void server_close(struct server_seen *server)
{
    control_end(&server->control);
    if (server->process != NULL) {
        os_process_free(server->process);
        server->process = NULL;
    }
    if (server->guard != NULL) {
        os_mutex_destroy(server->guard);
        server->guard = NULL;
    }
    free(server->servants);
    server->servants = NULL;
}

/* ---- Asking ---------------------------------------------------------------- */

bool server_ask(struct server_seen *server, const char *question, void (*take)(void *context, char *line),
                void *context, const char **told)
{
    static const char gone[] = "the server has gone";
    enum os_status status = control_say(&server->control, "%s", question);
    bool good = true;
    while (status == OS_OK) {
        char *line = NULL;
        status = control_hear(&server->control, ANSWER_PATIENCE_S * ns_per_s, &line);
        if (status != OS_OK || strcmp(line, "end") == 0) {
            break;
        }
        if (strncmp(line, "failed ", strlen("failed ")) == 0) {
            line += strlen("failed ");
            const char *const number = control_word(&line);
            format_text(server->failure, sizeof server->failure, "servant %s can't go on: %s", number, line);
            *told = server->failure;
            good = false;
        } else {
            take(context, line);
        }
    }
    if (status != OS_OK) {
        *told = gone;
    }
    return good && status == OS_OK;
}

bool server_ask_threads(struct server_seen *server, const char **told)
{
    return server_ask(server, "threads", take_thread, server, told);
}

bool server_ask_served(struct server_seen *server, const char **told)
{
    return server_ask(server, "served", take_served, server, told);
}

bool server_has_gone(struct server_seen *server)
{
    os_mutex_lock(server->guard);
    const bool gone = control_is_over(&server->control);
    os_mutex_unlock(server->guard);
    return gone;
}

const char *server_why(struct server_seen *server, enum os_status status)
{
    if (status == OS_CLOSED || server_has_gone(server)) {
        return "the server ended in mid-run";
    }
    return status == OS_TIMED_OUT ? "an answer did not come within --patience" : os_status_text(status);
}
