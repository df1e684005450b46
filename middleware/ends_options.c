#include "ends.h"

#include "experiment/priority.h"
#include "message.h"

#include <inttypes.h>

const char *const ends_places[] = {"same", "different", "free", NULL};

enum { NS_PER_MS = 1000000 };
static const int64_t ns_per_s = 1000000000;

struct ends_options ends_options_default(void)
{
    return (struct ends_options){
        .place = ENDS_SAME,
        .policy = OS_POLICY_FIFO,
        .patience_ns = ns_per_s,
        .conditions = conditions_default(),
        .client_cpu = OS_CPU_ANY,
        .server_cpu = OS_CPU_ANY,
    };
}

static bool choose_cpus(struct ends_options *options, int *code)
{
    struct cpu_list list;
    const bool given = options->cpus_text != NULL;
    if (options->place == ENDS_FREE) {
        if (given) {
            *code = refuse(EXIT_USAGE, "--cpus contradicts --place free, where nobody is pinned.\nLeave one out.");
        }
        return !given;
    }
    *code = cpu_list_read(&list, given ? options->cpus_text : "all");
    if (*code != EXIT_MEASURED) {
        return false;
    }
    if ((given && list.count > 2) || list.cpus[0] == OS_CPU_ANY) {
        *code = refuse(EXIT_USAGE, "--cpus %s: name one CPU, or the client's and the server's (0,1); for none, take "
                                   "--place free.",
                       options->cpus_text);
        return false;
    }
    /* A server elsewhere has CPUs of its own. */
    if (options->place == ENDS_DIFFERENT && list.count < 2 && options->server == NULL) {
        *code = refuse(EXIT_USAGE, "--place different needs two CPUs, and there is one.\n%s",
                       given ? "Name two: --cpus 0,1." : "Use --place same.");
        return false;
    }
    options->client_cpu = list.cpus[0];
    options->server_cpu = list.cpus[options->place == ENDS_DIFFERENT && list.count > 1 ? 1 : 0];
    return true;
}

bool ends_options_check(struct ends_options *options, int32_t levels, int *code)
{
    char host[HOST_BYTES];
    uint16_t port = 0;
    const enum os_policy policy = (enum os_policy)options->policy;
    *code = EXIT_USAGE;
    if (options->patience_ns < NS_PER_MS || options->patience_ns > 60 * ns_per_s) {
        refuse(EXIT_USAGE, "--patience must lie between 1ms and 60s.");
        return false;
    }
    if (options->service_time_ns >= options->patience_ns) {
        refuse(EXIT_USAGE, "--service-time must be shorter than --patience, or no answer would ever come in time.");
        return false;
    }
    if (options->server != NULL && !control_address_read(options->server, host, &port)) {
        refuse(EXIT_USAGE, "--server %s: write HOST:PORT, the host as a number (10.0.0.2:4711, [::1]:4711).",
               options->server);
        return false;
    }
    if (options->server != NULL && options_given("service-time")) {
        refuse(EXIT_USAGE, "--service-time belongs to the server: give it to middleware-serve, not beside --server.");
        return false;
    }
    if (!priority_choose(policy, options_given("priority"), os_priority_levels(policy) != 0 ? levels : 1,
                         &options->priority, &options->below_highest) ||
        !conditions_check(&options->conditions)) {
        return false;
    }
    *code = EXIT_USAGE;
    return choose_cpus(options, code);
}

struct os_thread_attributes ends_client_attributes(const struct ends_options *options, uint32_t number)
{
    const enum os_policy policy = (enum os_policy)options->policy;
    return (struct os_thread_attributes){
        .name = "tauto-client",
        .policy = policy,
        .below_highest = os_priority_levels(policy) != 0 ? options->below_highest + (int32_t)number : 0,
        .cpu = options->client_cpu,
    };
}

void ends_to_json(struct json *json, const struct ends_options *options, const struct server_seen *server)
{
    json_text(json, "transport", the_transport.name);
    json_text(json, "transport_title", the_transport.title);
    json_text_or_null(json, "transport_version", the_transport.version != NULL ? the_transport.version() : NULL);
    char host[HOST_BYTES] = "child"; /* not its port, which is another one each time */
    uint16_t port = 0;
    if (options->server != NULL) {
        (void)control_address_read(options->server, host, &port);
    }
    json_text(json, "server", host);
    json_text(json, "clocks", server->has_our_clock ? "one" : "unknown");
    json_text(json, "place", ends_places[options->place]);
    json_text(json, "policy", os_policy_name((enum os_policy)options->policy));
    if (os_priority_levels((enum os_policy)options->policy) != 0) {
        json_integer(json, "priority", options->priority);
    } else {
        json_null(json, "priority");
    }
    json_integer(json, "patience_ns", options->patience_ns);
    if (options->server != NULL) {
        json_null(json, "service_time_ns"); /* the server's own affair */
    } else {
        json_integer(json, "service_time_ns", options->service_time_ns);
    }
    json_integer(json, "budget_ns", options->conditions.budget_ns);
}

void servants_to_json(struct json *json, const struct servant_seen *servants, uint32_t count)
{
    json_open_array(json, "partners");
    for (uint32_t i = 0; i < count; i++) {
        const struct servant_seen *const servant = &servants[i];
        json_open_object(json, NULL);
        json_text(json, "role", "servant");
        json_integer_or_null(json, "thread", servant->thread != 0 ? servant->thread : INT64_MIN);
        requested_to_json(json, &servant->requested);
        obtained_to_json(json, servant->requested.policy, &servant->obtained);
        json_close_object(json);
    }
    json_close_array(json);
}

void servant_to_json(struct json *json, const struct servant_seen *servant)
{
    servants_to_json(json, servant, 1);
}
