/* The command `latency`: its options, its clients. */
#ifndef TAUTO_LATENCY_H
#define TAUTO_LATENCY_H

#include "client.h"

enum latency_overrun { LATENCY_REPLAY, LATENCY_SKIP, LATENCY_STOP };
enum latency_phase { PHASE_TOGETHER, PHASE_SPREAD };

struct latency_options {
    struct ends_options ends;
    int64_t clients; /* low ones */
    int64_t calls;   /* of each low one; C0 alone makes twice as many */
    int64_t warmup;
    int64_t rate_high_hz;
    int64_t rate_low_hz;
    int overrun; /* enum latency_overrun */
    int phase;   /* enum latency_phase */
    bool one_way;
};

bool latency_options_read(struct latency_options *options, int argc, char **argv, int *code);
void latency_options_to_json(struct json *json, const struct latency_options *options, int64_t ring_rows,
                             const struct server_seen *server);

/* Of client `number`: 0 is C0. */
int64_t latency_period_ns(const struct latency_options *options, uint32_t number);
/* How long after the common start its first release lies. */
int64_t latency_offset_ns(const struct latency_options *options, uint32_t number);
/* How many releases it has at most. C0 with low clients ends when they do; they have that long to do it, whatever
 * becomes of their calls, unless they are kept from running. */
int64_t latency_releases(const struct latency_options *options, uint32_t number);
/* Rows of the client that has most of them, where nobody is late. */
int64_t latency_rows(const struct latency_options *options);

/* What all client threads share. */
struct latency_meeting {
    struct os_semaphore *ready; /* posted by each that is connected and warm, or can't be */
    struct os_semaphore *go;    /* passed on from one to the next */
    _Atomic uint32_t low_at_work;
    /* When the last of them was done, INT64_MAX before. Read by C0 once a release. */
    _Alignas(CACHE_LINE_BYTES) _Atomic int64_t low_ended_ns;
};

/* On cache lines of its own: other clients write theirs meanwhile. */
struct latency_client {
    _Alignas(CACHE_LINE_BYTES) struct client client;
    const struct latency_options *options;
    struct latency_meeting *meeting;
    struct source *source;
    struct os_thread_obtained obtained;
    enum os_status status;    /* of connecting and warming up */
    int64_t first_release_ns; /* set before `go` */
    char what[64];
};

/* The thread of a client; `argument` is its struct latency_client. */
void latency_client_work(void *argument);

int latency_main(int argc, char **argv);

#endif
