/*
 * ZeroMQ's own latency test (its local_lat and remote_lat, which Debian does not package) in one program, with the time
 * of each round trip: REQ and REP, a message there and back.
 *
 * usage: middleware_zeromq serve ENDPOINT | call ENDPOINT BYTES COUNT      (call prints the median in ns)
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

enum { WARMUP = 100 };

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int ascending(const void *one, const void *other)
{
    const int64_t a = *(const int64_t *)one;
    const int64_t b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

static int serve(void *socket)
{
    zmq_msg_t message;
    zmq_msg_init(&message);
    while (zmq_msg_recv(&message, socket, 0) >= 0 && zmq_msg_send(&message, socket, 0) >= 0) {
    }
    return 1; /* until it is killed */
}

static int call(void *socket, size_t bytes, int count)
{
    int64_t *const taken_ns = calloc((size_t)count, sizeof *taken_ns);
    zmq_msg_t message;
    zmq_msg_init_size(&message, bytes);
    memset(zmq_msg_data(&message), 0, bytes);
    for (int i = -WARMUP; i < count; i++) {
        const int64_t before_ns = now_ns();
        if (zmq_msg_send(&message, socket, 0) < 0 || zmq_msg_recv(&message, socket, 0) != (int)bytes) {
            return 1;
        }
        if (i >= 0) {
            taken_ns[i] = now_ns() - before_ns;
        }
    }
    qsort(taken_ns, (size_t)count, sizeof *taken_ns, ascending);
    printf("%lld\n", (long long)taken_ns[count / 2]);
    free(taken_ns);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 5) {
        return 2;
    }
    const int serves = strcmp(argv[1], "serve") == 0;
    void *const context = zmq_ctx_new();
    void *const socket = zmq_socket(context, serves ? ZMQ_REP : ZMQ_REQ);
    if ((serves ? zmq_bind(socket, argv[2]) : zmq_connect(socket, argv[2])) != 0) {
        fprintf(stderr, "%s: %s\n", argv[2], zmq_strerror(errno));
        return 1;
    }
    const int code = serves ? serve(socket) : call(socket, (size_t)atol(argv[3]), atoi(argv[4]));
    zmq_close(socket);
    zmq_ctx_term(context);
    return code;
}
