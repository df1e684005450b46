/* What is set up once: contexts whose thread has the urgency of the one it works for, sockets, and a connection that
 * knows when it is over. */
#ifndef TAUTO_ZEROMQ_CONTEXT_H
#define TAUTO_ZEROMQ_CONTEXT_H

#include "transport.h"

/* Of a context with its sockets, at most. Where they are used up, the library ends the process. */
enum { ZEROMQ_FILES = 16 };

/* Its threads begin with the first socket, with these attributes, under the name "NUMBER/ZMQbg/…". The calling thread
 * must have the same policy and priority: what is not permitted ends the process in the library. OS_NO_MEMORY: so many
 * contexts, of which this is `number`, may not have their files open. */
enum os_status zeromq_context_open(void **context, const struct os_thread_attributes *attributes, uint32_t number);

/* A ROUTER at a free port of this address. */
enum os_status zeromq_listen(void *context, const char *address, void **socket, char endpoint[ENDPOINT_BYTES]);

/* A DEALER, and what tells of its connection: a DEALER itself would wait for another server for ever. */
struct zeromq_link {
    void *context;
    void *socket;
    void *monitor;
    int64_t patience_ns; /* of a send and a receive */
    bool over;           /* the connection has come to its end */
};

/* Connected. The link must be closed in any case. */
enum os_status zeromq_link_open(struct zeromq_link *link, const struct connect_options *options);
void zeromq_link_close(struct zeromq_link *link);
enum os_status zeromq_link_be_patient(struct zeromq_link *link, int64_t patience_ns);
/* A send or receive has failed with `error`: was it because the server is gone? */
enum os_status zeromq_link_status(struct zeromq_link *link, int error);

#endif
