/* TCP over IPv4 and IPv6, by the system's own sockets: the floor under every middleware that uses it. */
#include "transport/stream_socket.h"

#include "transport/posts.h"
#include "transport/sockets.h"

#include <sys/socket.h>

static enum os_status open_here(const char *host, int *file, char endpoint[ENDPOINT_BYTES])
{
    return inet_open(SOCK_STREAM, host, file, endpoint);
}

static enum os_status reach(const char *endpoint, int64_t patience_ns, int *file)
{
    return inet_reach(SOCK_STREAM, endpoint, patience_ns, file);
}

static const struct stream_family family = {.open = open_here, .reach = reach};

static enum os_status serve_here(struct service *service)
{
    return stream_serve(&family, service);
}

static enum os_status connect_there(struct connection **connection, const struct connect_options *options)
{
    return stream_connect(&family, connection, options);
}

const struct transport the_transport = {
    .name = "tcp",
    .title = "TCP",
    .reliable = true,
    .serve = serve_here,
    .end_service = posts_end_service,
    .connect = connect_there,
    .disconnect = stream_disconnect,
    .prepare = stream_prepare,
    .call = stream_call,
    .send = stream_send_one_way,
    .answer = stream_answer,
};
