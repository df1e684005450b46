/* The server's side: a channel and a thread for each servant. */
#include "cyclonedds_service.h"

#include "cyclonedds_channel.h"
#include "cyclonedds_domain.h"
#include "format.h"

#include <stdlib.h>

enum { TAKEN_AT_ONCE = 16 };
static const int64_t second_ns = 1000000000;

struct post {
    struct servant *servant;
    struct channel channel;
    struct os_thread *thread;
};

static struct domain service_domain;
static struct post *posts;
static uint32_t post_count;
static atomic_bool service_ends;

static void reply(const struct post *post, const Cubit_Reply *made)
{
    const dds_return_t result = dds_write(post->channel.writer, made);
    if (result != DDS_RETCODE_OK) {
        servant_fail(post->servant, result == DDS_RETCODE_TIMEOUT ? "the client takes no more replies"
                                                                  : "a reply can't be written (dds_write)");
    }
}

static void answer_request(const struct post *post, const Cubit_Request *request)
{
    Cubit_Reply made = {.number = request->number};
    struct value value;
    if (request->wants == WANTS_GREETING) {
        reply(post, &made);
        return;
    }
    if (!value_from_datum(&value, &request->argument)) {
        return;
    }
    const bool one_way = request->wants == WANTS_NOTHING;
    servant_handle(post->servant, &value, one_way);
    if (!one_way) {
        datum_from_value(&made.result, &value);
        reply(post, &made);
    }
}

/* What has come, until it is less than could have been taken. */
static enum os_status answer_all(const struct post *post)
{
    void *samples[TAKEN_AT_ONCE] = {NULL};
    dds_sample_info_t infos[TAKEN_AT_ONCE];
    dds_return_t taken = TAKEN_AT_ONCE;
    while (taken == TAKEN_AT_ONCE && !atomic_load_explicit(&service_ends, memory_order_relaxed)) {
        samples[0] = NULL; /* asks for a loan */
        taken = dds_take(post->channel.reader, samples, infos, TAKEN_AT_ONCE, TAKEN_AT_ONCE);
        for (dds_return_t i = 0; i < taken; i++) {
            if (infos[i].valid_data) {
                answer_request(post, samples[i]);
            }
        }
        if (taken > 0) {
            dds_return_loan(post->channel.reader, samples, taken);
        }
        servant_rest_when_due(post->servant);
    }
    return domain_status(taken);
}

static void keep_post(void *argument)
{
    const struct post *const post = argument;
    servant_is_served_here(post->servant);
    enum os_status status = OS_OK;
    while (status == OS_OK && !atomic_load(&service_ends)) {
        status = channel_wait(&post->channel, DDS_INFINITY);
        if (status == OS_OK) {
            status = answer_all(post);
        }
    }
    if (status != OS_OK) {
        servant_fail(post->servant, "requests can't be taken (dds_take)");
    }
}

static enum os_status take_post(struct post *post, struct servant *servant, const char *tag)
{
    const struct os_thread_attributes *const attributes = servant_attributes(servant);
    const struct channel_options options = {
        .side = CHANNEL_OF_SERVANT,
        .tag = tag,
        .number = servant_number(servant),
        .urgency = (int32_t)os_priority_to_native(attributes->policy, attributes->below_highest),
        .patience_ns = second_ns,
    };
    post->servant = servant;
    const enum os_status status = channel_open(&post->channel, service_domain.participant, &options);
    return status == OS_OK ? os_thread_create(&post->thread, attributes, keep_post, post) : status;
}

void cyclonedds_end_service(void)
{
    atomic_store(&service_ends, true);
    for (uint32_t i = 0; i < post_count; i++) {
        if (posts[i].thread != NULL) {
            channel_wake(&posts[i].channel);
            os_thread_join(posts[i].thread);
        }
    }
    domain_close(&service_domain);
    free(posts);
    posts = NULL;
    post_count = 0;
}

enum os_status cyclonedds_serve(struct service *service)
{
    struct domain_place place = {.port = 0};
    if (format_text(place.address, sizeof place.address, "%s", service->address) >= sizeof place.address) {
        return OS_INVALID;
    }
    atomic_store(&service_ends, false);
    posts = calloc(service->count, sizeof *posts);
    if (posts == NULL) {
        return OS_NO_MEMORY;
    }
    post_count = service->count;
    enum os_status status = domain_offer(&service_domain, &place, &service->housekeeping);
    for (uint32_t i = 0; i < service->count && status == OS_OK; i++) {
        format_text(service->endpoints[i], ENDPOINT_BYTES, "%s/%u/%s/%u", place.address, (unsigned)place.port,
                    place.tag, (unsigned)i);
        status = take_post(&posts[i], service->servants[i], place.tag);
    }
    if (status != OS_OK) {
        cyclonedds_end_service();
    }
    return status;
}
