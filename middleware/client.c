#include "client.h"

#include "message.h"

#include <inttypes.h>

/* A server that answers nothing any more has not lost single messages. */
enum { LOST_IN_A_ROW = 10, FIRST_CALL_TRIES = 3 };

enum os_status client_connect(struct client *client)
{
    const struct connect_options options = {
        .endpoint = client->server->servants[client->number].endpoint,
        .number = client->number,
        .patience_ns = client->ends->patience_ns,
        .housekeeping = ends_client_attributes(client->ends, 0),
    };
    enum os_status status = the_transport.connect(&client->connection, &options);
    if (status != OS_OK) {
        client->connection = NULL;
        return status;
    }
    const struct value nothing = {.kind = VALUE_VOID};
    status = the_transport.prepare(client->connection, &nothing);
    if (status != OS_OK) {
        return status;
    }
    for (int tries = 0; tries < FIRST_CALL_TRIES; tries++) {
        status = the_transport.call(client->connection);
        if (status != OS_TIMED_OUT || the_transport.reliable) {
            break;
        }
    }
    return status;
}

void client_disconnect(struct client *client)
{
    if (client->connection != NULL) {
        the_transport.disconnect(client->connection);
        client->connection = NULL;
    }
}

bool client_prepare(const struct client *client, const struct value *argument)
{
    const enum os_status status = the_transport.prepare(client->connection, argument);
    return status == OS_OK || client_fail(client, server_why(client->server, status));
}

enum call_end client_judge(struct client *client, enum os_status status)
{
    if (status == OS_OK) {
        client->lost_in_a_row = 0;
        return CALL_ANSWERED;
    }
    if (recorder_stopping(client->recorder)) {
        return CALL_ENDS_RUN; /* whatever it is, it comes of that end or of what brought it about */
    }
    if (status == OS_TIMED_OUT && !the_transport.reliable && ++client->lost_in_a_row < LOST_IN_A_ROW &&
        !server_has_gone(client->server)) {
        return CALL_LOST;
    }
    client_fail(client, server_why(client->server, status));
    return CALL_ENDS_RUN;
}

bool client_check_answer(const struct client *client, struct value *value, struct value *answer)
{
    value_cube(value);
    the_transport.answer(client->connection, answer);
    return value_equal(answer, value) || client_fail(client, "an answer is wrong");
}

bool client_fail(const struct client *client, const char *why)
{
    recorder_fail(client->recorder, why);
    return false;
}

int client_refuse_thread(const struct client *client, enum os_status status)
{
    const struct ends_options *const ends = client->ends;
    const enum os_policy policy = (enum os_policy)ends->policy;
    if (status == OS_NOT_PERMITTED) {
        const struct os_thread_attributes wanted = ends_client_attributes(ends, client->number);
        return refuse(EXIT_NOT_PERMITTED, "policy %s with priority %" PRId64 " is not permitted to this user.\n%s %s",
                      os_policy_name(policy), os_priority_to_native(policy, wanted.below_highest),
                      os_advice_for_policy(), advice_for_ordinary_policy);
    }
    if (status == OS_TIMED_OUT) {
        return refuse(EXIT_FAILED, "the client's thread %" PRIu32 " did not come to run: its CPU is kept busy by threads of "
                                   "higher priority.",
                      client->number);
    }
    return refuse(EXIT_FAILED, "the client's thread %" PRIu32 " can't be started: %s.", client->number,
                  os_status_text(status));
}

int client_refuse_connection(const struct client *client, enum os_status status)
{
    return refuse(EXIT_FAILED, "no connection to %s: %s.", client->server->servants[client->number].endpoint,
                  status == OS_UNSUPPORTED ? "the server's machine has the other byte order" : os_status_text(status));
}

int client_close_recorder(struct recorder *recorder, int code)
{
    if (code != EXIT_MEASURED) {
        recorder_abandon(recorder);
        return code;
    }
    const char *const failure = atomic_load(&recorder->failure);
    if (failure != NULL) {
        code = refuse(EXIT_FAILED, "%s.\nWhat was measured before is kept.", failure);
    }
    const int closed = recorder_close(recorder);
    return code != EXIT_MEASURED ? code : closed;
}
