/*
 * The one interface of everything that carries a call from a client to a servant. Each transport is one
 * program, tauto-middleware-NAME, which holds client, server and experiments, and one file, transport/NAME.c (or .cpp),
 * with NAME_*.c beside it where it grows.
 *
 * A servant has an endpoint of its own and a thread of its own urgency that serves it. A connection goes from one
 * thread of a client to one servant; no two threads share one. What a transport needs to allocate, it allocates when
 * it begins to serve, connects or prepares: nothing between `call` and its return that the middleware itself does not.
 *
 * What may be asked of each side, and by which thread, is said here; what is measured is said in throughput.c and
 * latency.c: both clocks are read by the client, just before `call` (or `send`) and just after its return.
 */
#ifndef TAUTO_TRANSPORT_H
#define TAUTO_TRANSPORT_H

#include "os/os.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ENDPOINT_BYTES = 256, SERVANTS_LIMIT = 256 };

/* ---- The server's side: what a transport finds in servant.c ---------------- */

struct servant;

/* Of the thread that is to serve it: policy, priority, CPU. */
const struct os_thread_attributes *servant_attributes(const struct servant *servant);
/* 0 … count - 1. */
uint32_t servant_number(const struct servant *servant);
/* Called by the thread that serves, once these attributes are in force for it and before its first answer; again
 * whenever another thread takes over. What the system says of the thread is read back and kept. */
void servant_is_served_here(struct servant *servant);
/* A request has arrived, and this is the first thing that is done about it: cubes it in place (of VALUE_TIMED: and says
 * when it came) and counts it. Elements stay where they are. Only by the thread that serves. */
void servant_handle(struct servant *servant, struct value *value, bool one_way);
/* Before it waits for the next request, or for anything else that may come in a flood: a real-time thread to which more
 * comes than it can handle rests for 4 ms in every second. Only by the thread that serves. */
void servant_rest_when_due(struct servant *servant);
/* The servant can't go on: the client is told. `why` is text that stays. */
void servant_fail(struct servant *servant, const char *why);

struct service {
    uint32_t count; /* servants */
    struct servant *const *servants;
    const char *address;                            /* a number, of the interface on which it is reached */
    char (*endpoints)[ENDPOINT_BYTES];              /* out: one for each servant, without blanks, for `connect` */
    struct os_thread_attributes housekeeping;       /* of threads that the middleware has of its own on the way of a
                                                       request, where it lets them be set: those of the most urgent
                                                       servant */
    char refusal[256];                              /* out, where `serve` fails: why, in words */
};

/* ---- The client's side ----------------------------------------------------- */

struct connect_options {
    const char *endpoint;
    uint32_t number;                          /* of the connection in this client: 0, 1, … */
    int64_t patience_ns;                      /* who has no answer for so long gets OS_TIMED_OUT */
    struct os_thread_attributes housekeeping; /* as in struct service, of the client's most urgent thread */
};

/* How long `connect` looks for its servant, and then waits for the servant's first answer: a server that starts may be
 * slow, and the other end may have to make a thread. So long, too, one that is to serve what it has may stand still. */
static inline int64_t long_patience_ns(int64_t patience_ns)
{
    const int64_t least_ns = 5000000000;
    return patience_ns > least_ns ? patience_ns : least_ns;
}

struct connection; /* the transport's own */

struct transport {
    const char *name;     /* of its program: "tcp" */
    const char *title;    /* for people: "TCP" */
    const char *(*version)(void); /* of the middleware's library; NULL: it has none, it is the system's own */
    bool reliable;        /* false: a message may be lost, and a call without an answer is counted as lost */
    uint64_t most_bytes;  /* of the elements of one sequence; 0: no limit of its own */

    /* Opens every servant's endpoint, starts the threads that serve, and returns when requests may come. On failure
     * nothing is left open. */
    enum os_status (*serve)(struct service *service);
    /* No request is served any more; frees everything. Once, after `serve`. */
    void (*end_service)(void);

    /* By the thread that will call. A connection has been made, and a call would arrive. Where nobody answers it gives
     * up after long_patience_ns: OS_TIMED_OUT, or OS_REFUSED where that is known before. */
    enum os_status (*connect)(struct connection **connection, const struct connect_options *options);
    /* By any thread, when the one that called does so no more. */
    void (*disconnect)(struct connection *connection);
    /* The argument of the next call or send: copied, and made ready as far as it can be without sending it. */
    enum os_status (*prepare)(struct connection *connection, const struct value *argument);
    /* TIMED. Sends it and waits for the answer. OS_TIMED_OUT, OS_CLOSED (the server is gone), OS_FAILED. An answer to
     * an earlier call that comes too late is passed over. */
    enum os_status (*call)(struct connection *connection);
    /* TIMED. Sends it and waits for nothing but for room to send. */
    enum os_status (*send)(struct connection *connection);
    /* What the last call brought. The elements are the connection's own, until the next prepare or call. */
    void (*answer)(struct connection *connection, struct value *answer);
};

/* The one that this program was linked with. */
extern const struct transport the_transport;

#ifdef __cplusplus
}
#endif

#endif
