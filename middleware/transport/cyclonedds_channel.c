#include "cyclonedds_channel.h"

#include "format.h"

enum { TOPIC_BYTES = 128 };
/* Samples that lie ready and nobody has taken yet. When there are more, the reader takes no more, and whoever writes
 * waits: a sender at full speed is held back, and its samples are not lost. */
enum { SAMPLES_LIMIT = 4096 };

/* ---- Opening and closing ---------------------------------------------------- */

static dds_entity_t open_topic(dds_entity_t participant, const struct channel_options *options, bool requests)
{
    char name[TOPIC_BYTES];
    format_text(name, sizeof name, "%s_%u_%s", options->tag, (unsigned)options->number,
                requests ? "request" : "reply");
    return dds_create_topic(participant, requests ? &Cubit_Request_desc : &Cubit_Reply_desc, name, NULL, NULL);
}

static dds_qos_t *quality(const struct channel_options *options)
{
    dds_qos_t *const qos = dds_create_qos();
    if (qos == NULL) {
        return NULL;
    }
    dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, options->patience_ns);
    dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
    dds_qset_resource_limits(qos, SAMPLES_LIMIT, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
    dds_qset_durability(qos, DDS_DURABILITY_VOLATILE);
    dds_qset_transport_priority(qos, options->urgency);
    return qos;
}

static dds_return_t open_ends(struct channel *channel, dds_entity_t participant, const struct channel_options *options)
{
    const bool serves = options->side == CHANNEL_OF_SERVANT;
    for (int i = 0; i < 2; i++) {
        channel->parts[i] = open_topic(participant, options, (i == 0) == serves); /* 0: read, 1: written */
        if (channel->parts[i] < 0) {
            return channel->parts[i];
        }
    }
    dds_qos_t *const qos = quality(options);
    if (qos == NULL) {
        return DDS_RETCODE_OUT_OF_RESOURCES;
    }
    channel->reader = dds_create_reader(participant, channel->parts[0], qos, options->listener);
    channel->writer = dds_create_writer(participant, channel->parts[1], qos, options->listener);
    dds_delete_qos(qos);
    return channel->reader < 0 ? channel->reader : channel->writer;
}

static dds_return_t open_waiting(struct channel *channel, dds_entity_t participant)
{
    channel->waitset = dds_create_waitset(participant);
    channel->guard = dds_create_guardcondition(participant);
    if (channel->waitset < 0 || channel->guard < 0) {
        return channel->waitset < 0 ? channel->waitset : channel->guard;
    }
    dds_return_t result = dds_set_status_mask(channel->reader, DDS_DATA_AVAILABLE_STATUS);
    if (result == DDS_RETCODE_OK) {
        result = dds_waitset_attach(channel->waitset, channel->reader, 0);
    }
    return result == DDS_RETCODE_OK ? dds_waitset_attach(channel->waitset, channel->guard, 0) : result;
}

enum os_status channel_open(struct channel *channel, dds_entity_t participant, const struct channel_options *options)
{
    *channel = (struct channel){0};
    dds_return_t result = open_ends(channel, participant, options);
    if (result >= 0) {
        result = open_waiting(channel, participant);
    }
    if (result < 0) {
        channel_close(channel);
    }
    return domain_status(result);
}

void channel_close(struct channel *channel)
{
    const dds_entity_t all[] = {channel->waitset, channel->guard,    channel->reader,
                                channel->writer,  channel->parts[0], channel->parts[1]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i] > 0) {
            dds_delete(all[i]);
        }
    }
    *channel = (struct channel){0};
}

/* ---- Waiting ---------------------------------------------------------------- */

bool channel_is_matched(const struct channel *channel)
{
    dds_subscription_matched_status_t read;
    dds_publication_matched_status_t written;
    return dds_get_subscription_matched_status(channel->reader, &read) == DDS_RETCODE_OK && read.current_count > 0 &&
           dds_get_publication_matched_status(channel->writer, &written) == DDS_RETCODE_OK && written.current_count > 0;
}

void channel_wake(const struct channel *channel)
{
    dds_set_guardcondition(channel->guard, true);
}

enum os_status channel_wait(const struct channel *channel, int64_t timeout_ns)
{
    const dds_return_t triggered = dds_waitset_wait(channel->waitset, NULL, 0, timeout_ns);
    return triggered == 0 ? OS_TIMED_OUT : domain_status(triggered);
}

/* ---- What is carried --------------------------------------------------------- */

bool value_from_datum(struct value *value, const Cubit_Datum *datum)
{
    *value = (struct value){.kind = (enum value_kind)datum->_d};
    switch (value->kind) {
    case VALUE_VOID:
        return true;
    case VALUE_OCTET:
        value->scalar.octet = datum->_u.o;
        return true;
    case VALUE_SHORT:
        value->scalar.short_integer = datum->_u.s;
        return true;
    case VALUE_LONG:
        value->scalar.long_integer = datum->_u.l;
        return true;
    case VALUE_DOUBLE:
        value->scalar.real = datum->_u.d;
        return true;
    case VALUE_STRUCT:
        value->scalar.many =
            (struct value_many){.o = datum->_u.many.o, .l = datum->_u.many.l, .s = datum->_u.many.s};
        return true;
    case VALUE_LONGS:
        value->length = datum->_u.longs._length;
        value->elements = datum->_u.longs._buffer;
        return true;
    case VALUE_OCTETS:
        value->length = datum->_u.octets._length;
        value->elements = datum->_u.octets._buffer;
        return true;
    case VALUE_TIMED:
        value->scalar.octet = datum->_u.timed.value;
        value->arrived_ns = datum->_u.timed.arrived_ns;
        return true;
    case VALUE_KINDS:
        break;
    }
    return false;
}

void datum_from_value(Cubit_Datum *datum, const struct value *value)
{
    datum->_d = (uint8_t)value->kind;
    switch (value->kind) {
    case VALUE_OCTET:
        datum->_u.o = value->scalar.octet;
        break;
    case VALUE_SHORT:
        datum->_u.s = value->scalar.short_integer;
        break;
    case VALUE_LONG:
        datum->_u.l = value->scalar.long_integer;
        break;
    case VALUE_DOUBLE:
        datum->_u.d = value->scalar.real;
        break;
    case VALUE_STRUCT:
        datum->_u.many =
            (Cubit_Many){.o = value->scalar.many.o, .l = value->scalar.many.l, .s = value->scalar.many.s};
        break;
    case VALUE_LONGS:
        datum->_u.longs = (Cubit_Longs){
            ._maximum = value->length, ._length = value->length, ._buffer = value->elements, ._release = false};
        break;
    case VALUE_OCTETS:
        datum->_u.octets = (Cubit_Octets){
            ._maximum = value->length, ._length = value->length, ._buffer = value->elements, ._release = false};
        break;
    case VALUE_TIMED:
        datum->_u.timed = (Cubit_Timed){.value = value->scalar.octet, .arrived_ns = value->arrived_ns};
        break;
    case VALUE_VOID:
    case VALUE_KINDS:
        break;
    }
}
