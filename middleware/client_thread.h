/* A client that is one thread: it connects, waits until that is in the header, measures, and disconnects. */
#ifndef TAUTO_CLIENT_THREAD_H
#define TAUTO_CLIENT_THREAD_H

#include "client.h"

struct client_thread {
    const char *experiment; /* as the header names it */
    struct recorder *recorder;
    const struct client *client; /* the first, where it has several connections */
    void *context;               /* of what follows */

    void (*parameters_to_json)(void *context, struct json *json); /* of the header */
    /* By the thread. Returns an exit code; a refusal is told. */
    int (*connect)(void *context);
    void (*measure)(void *context);
    void (*disconnect)(void *context);
    /* What came of it, after the last sample: into the stream, or for people. */
    void (*write_result)(void *context);
    void (*print_result)(void *context);

    /* Its own. */
    struct os_semaphore *ready;
    struct os_semaphore *go;
    struct os_thread_obtained obtained;
    int code; /* of connecting */
};

/* From the thread's start to its end. Returns an exit code; refusals are told. */
int client_thread_run(struct client_thread *thread);

#endif
