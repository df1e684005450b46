/* Unix stream sockets, within one machine. Their names are abstract: the system chooses one that nobody has, and
 * nothing is left in a folder. */
#include "transport/stream_socket.h"

#include "os/posix/network_address.h"
#include "transport/posts.h"
#include "transport/sockets.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

static_assert(sizeof(struct sockaddr_un) < ENDPOINT_BYTES, "a name fits in an endpoint");

/* "@NAME", where the system has a NUL. */
static enum os_status open_here(const char *host, int *file, char endpoint[ENDPOINT_BYTES])
{
    (void)host;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address;
    *file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*file < 0) {
        return network_status(errno);
    }
    /* Bound to nothing but the family: to a name of the system's choice. */
    if (bind(*file, (const struct sockaddr *)&address, sizeof address.sun_family) != 0 ||
        getsockname(*file, (struct sockaddr *)&address, &length) != 0) {
        return socket_give_up(file);
    }
    const size_t bytes = length - offsetof(struct sockaddr_un, sun_path);
    memcpy(endpoint, address.sun_path, bytes);
    endpoint[0] = '@';
    endpoint[bytes] = '\0';
    return OS_OK;
}

static enum os_status reach(const char *endpoint, int64_t patience_ns, int *file)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t bytes = strlen(endpoint);
    *file = SOCKET_NONE;
    if (endpoint[0] != '@' || bytes > sizeof address.sun_path) {
        return OS_INVALID;
    }
    memcpy(address.sun_path + 1, endpoint + 1, bytes - 1);
    const socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes);
    *file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*file < 0) {
        return network_status(errno);
    }
    if (!socket_be_patient(*file, true, patience_ns) ||
        connect(*file, (const struct sockaddr *)&address, length) != 0) {
        return socket_give_up(file);
    }
    return OS_OK;
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
    .name = "unix",
    .title = "Unix socket",
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
