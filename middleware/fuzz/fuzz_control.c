/* What a server says beside the measured connection, and an address. "!" at the beginning is the right greeting. */
#include "fuzz/fuzz.h"

#include "ends.h"
#include "message.h"
#include "transport.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_SENT = 65536, SERVANTS = 2 };

enum os_status __wrap_os_network_connect(struct os_socket *socket, const char *host, uint16_t port, int64_t timeout_ns);

const struct transport the_transport = {.name = "none"};
static struct os_socket server_end;

enum os_status __wrap_os_network_connect(struct os_socket *socket, const char *host, uint16_t port, int64_t timeout_ns)
{
    (void)host;
    (void)port;
    (void)timeout_ns;
    *socket = server_end;
    return OS_OK;
}

/* All that the server ever says is there before it is asked. */
static void read_answers(const uint8_t *data, size_t size)
{
    static const struct ends_options options = {.server = "127.0.0.1:1"};
    static struct server_seen server;
    const char *told = NULL;
    int ends[2];
    static const char greeting[] = "tautochrone-middleware 1 " TAUTO_VERSION " none";
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        abort();
    }
    if (data[0] == '!') {
        (void)send(ends[0], greeting, sizeof greeting - 1, MSG_DONTWAIT);
        data++;
        size--;
    }
    if (size > 0 && send(ends[0], data, size, MSG_DONTWAIT) != (ssize_t)size) {
        abort();
    }
    shutdown(ends[0], SHUT_WR); /* questions are taken, and nobody reads them */
    server_end.handle = ends[1];
    if (server_open(&server, &options, SERVANTS) == EXIT_MEASURED) {
        (void)(server_ask_threads(&server, &told) && server_ask_served(&server, &told));
        server_close(&server);
    }
    close(ends[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char host[HOST_BYTES];
    uint16_t port = 0;
    char *const string = fuzz_string(data, size);
    (void)control_address_read(string, host, &port);
    free(string);
    if (size > 0 && size <= MOST_SENT) {
        read_answers(data, size);
    }
    return 0;
}
