/* A peer that stands for a device: it answers each message of a step at once. Plays it well, or badly where that is asked. */
#ifndef TAUTO_STEP_PEER_H
#define TAUTO_STEP_PEER_H

#include "exchange.h"

#include "experiment/rest.h"

enum peer_plant { PEER_ECHO, PEER_LAG };
extern const char *const peer_plants[]; /* as the enumeration; ends with NULL */

struct peer_options {
    int plant;
    int64_t lag_ns; /* the time constant */
    int64_t lose;   /* of each so many messages the last one gets no answer; 0: all get one */
    int64_t swap;   /* the answer to the first one comes after the next answer */
    int64_t twice;  /* the second one gets two answers */
};
struct peer_options peer_default(void);

/* Answers until a stop is requested, on a link that is open. */
struct peer_counts {
    uint64_t received;
    uint64_t answered; /* messages */
    uint64_t foreign;
    uint64_t unsent; /* answers that the system did not take */
};
struct peer_counts peer_play(struct link *link, const struct peer_options *options, struct rest rest);

/* Opens the link of a peer. Returns an exit code; refusals are told. */
int peer_open(struct link *link, const struct link_address *address, const char *text);
/* Starts the peer of `--peer` in a process of its own, on other CPUs than this one where there are any; it ends with the
 * children of the caller. Returns an exit code; refusals are told. */
int peer_start(const struct exchange_options *options, int32_t cpu);
/* `tauto-step peer`. */
int run_peer(int argc, char **argv);

#endif
