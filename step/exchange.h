/*
 * The exchange of a step's outputs and inputs with a device, or with a peer that stands for it. Each step sends one message
 * after it has ended, and takes what arrived before it begins; nothing waits. The answer to a message is told in the row
 * of the step that sent it, so rows wait for their answers before they are published: in their places of the ring, where
 * they outlive the process that filled them in.
 */
#ifndef TAUTO_STEP_EXCHANGE_H
#define TAUTO_STEP_EXCHANGE_H

#include "os/link.h"
#include "tautochrone_step.h"

#include "record/recorder.h"

/* Of a row, behind the columns of every step. */
enum exchange_column {
    EXCHANGE_SEND, EXCHANGE_SENT, EXCHANGE_ANSWERED, EXCHANGE_INPUT, EXCHANGE_SEQUENCE, EXCHANGE_INPUT_SEQUENCE,
    EXCHANGE_COLUMNS
};
extern const struct column exchange_columns[EXCHANGE_COLUMNS];

/* Of the messages of recorded steps; `foreign` of all that came. In shared memory: it outlives the child. */
struct exchange_books {
    uint64_t sent;
    uint64_t unsent;     /* the system did not take them */
    uint64_t answered;   /* in time; what was sent and not answered is lost */
    uint64_t late;       /* answers that came after the patience: lost all the same */
    uint64_t repeated;   /* answers to what was answered already */
    uint64_t reordered;  /* answers that came after the answer to a later message */
    uint64_t incomplete; /* answers with fewer values than the step has inputs */
    uint64_t foreign;    /* what is no answer to any message */
    uint64_t waiting;    /* rows in the ring that are not published yet, of the newest steps */
};

struct exchange_options {
    const char *text; /* udp:HOST:PORT, can:INTERFACE; NULL: nothing is exchanged */
    struct link_address address;
    int64_t patience_ns; /* an answer that takes longer is lost */
    int peer;            /* enum peer_plant; -1: somebody else answers */
};

struct exchange {
    struct link link;
    struct link_message message; /* serves every one */
    const struct tautochrone_signals *signals;
    struct ring *ring;
    struct exchange_books *books;
    int64_t patience_ns;
    struct sent *sent; /* by sequence, modulo `places` */
    uint64_t places;   /* a power of two */
    uint64_t most_waiting;
    uint64_t next;   /* the sequence of the next message */
    uint64_t oldest; /* of the first one whose row may wait */
    uint64_t newest; /* of the answers that came, where `heard` */
    bool heard;
    int64_t input_ns;    /* when the inputs arrived that the step computes with */
    int64_t heard_ns;    /* when anything did */
    uint32_t answer_at;  /* the word of a row that has the answer's instant */
};

/* Room for what is under way. Its link is open. `first` is the word of a row where its columns begin. OS_NO_MEMORY. */
enum os_status exchange_prepare(struct exchange *exchange, const struct exchange_options *options, int64_t period_ns,
                                struct ring *ring, uint32_t first, struct exchange_books *books);
/* Before a step: the newest inputs. Fills in what the row tells of them. */
void exchange_take(struct exchange *exchange, int64_t told[EXCHANGE_COLUMNS]);
/* After it: its outputs. */
void exchange_give(struct exchange *exchange, uint64_t release, bool is_recorded, int64_t told[EXCHANGE_COLUMNS]);
/* Where the row of that step goes; NULL, and one more dropped: the ring is full. */
int64_t *exchange_slot(struct exchange *exchange);
/* It is filled in. */
void exchange_keep(struct exchange *exchange, int64_t *row);
/* After the last step: waits for answers that may still come, of a run that is to stop for this long at most, and publishes
 * all rows. */
void exchange_finish(struct exchange *exchange, const struct recorder *recorder, int64_t when_stopped_ns);
/* In the parent, when the child ended early: publishes what waits. */
void exchange_publish(struct ring *ring, struct exchange_books *books);

/* Into "parameters". */
void exchange_options_to_json(struct json *json, const struct exchange_options *options);
void exchange_to_json(struct json *json, const struct exchange_options *options, bool is_stamped,
                      const struct tautochrone_signals *signals);
void exchange_books_to_json(struct json *json, const struct exchange_books *books);

#endif
