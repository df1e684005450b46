/* The two sides of the load `network`; network.c says what they do. */
#ifndef TAUTO_LOAD_NETWORK_H
#define TAUTO_LOAD_NETWORK_H

#include "load/peer.h"

/* A request is two numbers of 32 bits, the highest byte first: which one of this client it is, and how many bytes its
 * answer is to have. The answer begins with the request. */
enum { NETWORK_REQUEST_BYTES = 8, NETWORK_MOST_BYTES = 16 * 1024 * 1024, NETWORK_PIECE_BYTES = 65536 };

struct network {
    struct peer peer;
    int64_t clients;
    int64_t bytes;       /* of an answer, the request that it begins with included */
    int64_t rate;        /* bits of answers per second, for each client */
    int64_t period_ns;   /* between two requests of a client */
    int64_t interval_ns; /* between the requests of two clients */
    struct os_socket *at_server; /* one for each client */
    struct os_socket *at_client;
    /* What the thread of the clients found, once it has ended. */
    int64_t asked_for_ns; /* since its first request was due */
    uint64_t answers;
    uint64_t late;
    /* What the thread of the server found: most clients that it had at a time. */
    uint32_t most_clients;
};

void network_write_number(uint8_t *bytes, uint32_t number);
uint32_t network_read_number(const uint8_t *bytes);

/* Both run until the load must end or has failed. */
void network_serve(struct load_thread *thread);
void network_ask(struct load_thread *thread);

#endif
