/*
 * One thread of the client and its connection to one servant, as every experiment has it: how it connects, what becomes
 * of a call, and what is told where it does not go on.
 */
#ifndef TAUTO_CLIENT_H
#define TAUTO_CLIENT_H

#include "ends.h"

struct client {
    const struct ends_options *ends;
    struct server_seen *server;
    struct recorder *recorder;
    uint32_t number;               /* of its servant; also how far its priority lies below the most urgent one's */
    struct connection *connection; /* NULL: none */
    uint32_t lost_in_a_row;
};

enum call_end {
    CALL_ANSWERED,
    CALL_LOST,     /* this transport may lose messages, and did */
    CALL_ENDS_RUN, /* why has been said to the recorder, unless the run was to end anyway */
};

/* By the thread that will call. A call has gone there and back. */
enum os_status client_connect(struct client *client);
/* By any thread, when that one calls no more. */
void client_disconnect(struct client *client);

/* The argument of the next call. False: it can't be made ready, and the run ends. */
bool client_prepare(const struct client *client, const struct value *argument);
/* What a call that ended with `status` means. */
enum call_end client_judge(struct client *client, enum os_status status);
/* The answer of the last call. `value` is what was sent, and becomes its cube. False: the answer is another one, and the
 * run ends. */
bool client_check_answer(const struct client *client, struct value *value, struct value *answer);
/* Ends the run as failed; the first reason counts. Returns false. */
bool client_fail(const struct client *client, const char *why);

/* Refusals, told; they return the exit code. */
int client_refuse_thread(const struct client *client, enum os_status status);
int client_refuse_connection(const struct client *client, enum os_status status);
/* The last of a run: `code` is what came of it so far. A reason why it failed is told. Returns the exit code. */
int client_close_recorder(struct recorder *recorder, int code);

#endif
