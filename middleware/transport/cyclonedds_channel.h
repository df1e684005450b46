/*
 * Two topics carry what goes between a connection and its servant: requests one way, replies the other. A channel is
 * one side of both: what it reads, what it writes, and what wakes the thread that owns it.
 */
#ifndef TAUTO_CYCLONEDDS_CHANNEL_H
#define TAUTO_CYCLONEDDS_CHANNEL_H

#include "cubit.h"
#include "cyclonedds_domain.h"
#include "value.h"

#include <stdatomic.h>

/* What a request wants: `wants` in cubit.idl. */
enum { WANTS_ANSWER = 0, WANTS_NOTHING = 1, WANTS_GREETING = 2 };

enum channel_side { CHANNEL_OF_SERVANT, CHANNEL_OF_CLIENT };

struct channel {
    dds_entity_t reader;
    dds_entity_t writer;
    dds_entity_t waitset; /* samples have come, or the guard was set */
    dds_entity_t guard;
    dds_entity_t parts[2]; /* topics, which go last */
};

struct channel_options {
    enum channel_side side;
    const char *tag;      /* of the server */
    uint32_t number;      /* of the servant */
    int32_t urgency;      /* transport priority of what is written: the writing thread's own priority */
    int64_t patience_ns;  /* how long a write may wait for room */
    dds_listener_t *listener; /* of reader and writer, or NULL */
};

/* Everything reliable, nothing ever left out, nothing kept for who comes later. On failure nothing is left. */
enum os_status channel_open(struct channel *channel, dds_entity_t participant, const struct channel_options *options);
void channel_close(struct channel *channel);
/* Somebody reads what it writes, and somebody writes what it reads. */
bool channel_is_matched(const struct channel *channel);
/* Wakes the owner, and whenever it waits again from now on. */
void channel_wake(const struct channel *channel);
/* Until something wakes it. OS_TIMED_OUT: nothing has. */
enum os_status channel_wait(const struct channel *channel, int64_t timeout_ns);

/* Elements are pointed to, not copied. False: it is of no kind that we know. */
bool value_from_datum(struct value *value, const Cubit_Datum *datum);
void datum_from_value(Cubit_Datum *datum, const struct value *value);

#endif
