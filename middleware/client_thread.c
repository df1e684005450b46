#include "client_thread.h"

#include "message.h"

static void finish_sources(const struct client_thread *thread)
{
    for (uint32_t i = 0; i < thread->recorder->source_count; i++) {
        source_finish(&thread->recorder->sources[i]);
    }
}

static void work(void *argument)
{
    struct client_thread *const thread = argument;
    os_thread_read_back(&thread->obtained);
    thread->code = thread->connect(thread->context);
    os_semaphore_post(thread->ready);
    os_semaphore_wait(thread->go);
    if (thread->code == EXIT_MEASURED && !recorder_stopping(thread->recorder)) {
        thread->measure(thread->context);
    }
    thread->disconnect(thread->context);
    finish_sources(thread);
}

static int start(struct client_thread *thread)
{
    const struct os_thread_attributes attributes = ends_client_attributes(thread->client->ends, 0);
    struct os_thread *started = NULL;
    const enum os_status status = os_thread_create(&started, &attributes, work, thread);
    if (status != OS_OK) {
        finish_sources(thread); /* nobody else will */
        return client_refuse_thread(thread->client, status);
    }
    thread->recorder->sources[0].thread = started;
    os_semaphore_wait(thread->ready); /* connecting has its own patience */
    if (thread->code != EXIT_MEASURED) {
        return thread->code;
    }
    const char *told = "";
    return server_ask_threads(thread->client->server, &told) ? EXIT_MEASURED : refuse(EXIT_FAILED, "%s.", told);
}

static int write_header(const struct client_thread *thread)
{
    struct json json;
    const struct client *const client = thread->client;
    const struct os_thread_attributes attributes = ends_client_attributes(client->ends, 0);
    recorder_header_begin(thread->recorder, &json, thread->experiment);
    thread->parameters_to_json(thread->context, &json);
    json_open_array(&json, "sources");
    for (uint32_t i = 0; i < thread->recorder->source_count; i++) {
        json_open_object(&json, NULL);
        recorder_source_to_json(thread->recorder, &json, i);
        json_text(&json, "role", "client");
        requested_to_json(&json, &attributes);
        obtained_to_json(&json, attributes.policy, &thread->obtained);
        servants_to_json(&json, client->server->servants, client->server->count);
        json_close_object(&json);
    }
    json_close_array(&json);
    conditions_to_json(&json, &client->ends->conditions);
    return recorder_header_end(thread->recorder, &json);
}

static int run(struct client_thread *thread)
{
    struct recorder *const recorder = thread->recorder;
    int code = start(thread);
    if (code == EXIT_MEASURED) {
        code = recorder_open_output(recorder);
    }
    if (code == EXIT_MEASURED) {
        code = write_header(thread);
    }
    if (code != EXIT_MEASURED) {
        atomic_store(&recorder->stop, true);
    }
    os_semaphore_post(thread->go);
    recorder_run(recorder);
    if (code == EXIT_MEASURED) {
        recorder->streaming ? thread->write_result(thread->context) : thread->print_result(thread->context);
    }
    return code;
}

int client_thread_run(struct client_thread *thread)
{
    const bool good = os_semaphore_create(&thread->ready, 0) == OS_OK && os_semaphore_create(&thread->go, 0) == OS_OK;
    const int code = good ? run(thread) : refuse(EXIT_FAILED, "no memory for the client's thread.");
    os_semaphore_destroy(thread->ready);
    os_semaphore_destroy(thread->go);
    return code;
}
