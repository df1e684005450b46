/*
 * What tcp and unix have in common: frames on a stream of bytes. A thread per servant accepts one connection, serves it
 * until its other end goes away, and accepts the next, which has waited meanwhile. All sockets block; a message is one
 * send, and where nothing else is under way, one receive.
 */
#ifndef TAUTO_STREAM_SOCKET_H
#define TAUTO_STREAM_SOCKET_H

#include "transport.h"

/* What they differ in. Both are left closed on failure. */
struct stream_family {
    /* Bound at this interface and ready for listen(2). */
    enum os_status (*open)(const char *host, int *file, char endpoint[ENDPOINT_BYTES]);
    /* Connected within `patience_ns`. */
    enum os_status (*reach)(const char *endpoint, int64_t patience_ns, int *file);
};

/* It ends with posts_end_service. */
enum os_status stream_serve(const struct stream_family *family, struct service *service);

enum os_status stream_connect(const struct stream_family *family, struct connection **connection,
                              const struct connect_options *options);
void stream_disconnect(struct connection *connection);
enum os_status stream_prepare(struct connection *connection, const struct value *argument);
enum os_status stream_call(struct connection *connection);
enum os_status stream_send_one_way(struct connection *connection);
void stream_answer(struct connection *connection, struct value *answer);

#endif
