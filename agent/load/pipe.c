/*
 * Messages through pipes, as the program hackbench sends them: groups of senders and receivers, each sender writing to
 * every receiver of its group in turn, as fast as it goes. Hardly any arithmetic: what runs is the scheduler, waking one
 * thread after the other, and the copying in and out of the kernel.
 *
 * A thread runs wherever the scheduler puts it among the chosen CPUs. operations: messages received; the report adds
 * `groups`, `members` and `message_bytes`.
 */
#include "load/load.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_GROUPS = 100, MOST_MEMBERS = 100, MOST_PIPES = 450, MOST_BYTES = 4096 };
enum { THREAD_BYTES = 32768, PIPE_BYTES = 65536, MOST_PERCENT = 90, MIB = 1024 * 1024 };

struct settings {
    int64_t groups;
    int64_t members; /* senders of a group, and receivers of a group */
    int64_t bytes;
    struct os_fifo **pipes; /* one for each receiver */
};

static size_t options(void *settings, struct option *table)
{
    struct settings *const own = settings;
    own->groups = 2;
    own->members = 4;
    own->bytes = 100;
    table[0] = (struct option){"groups", OPTION_COUNT, &own->groups, NULL, "of senders and receivers [2]", false};
    table[1] = (struct option){"members", OPTION_COUNT, &own->members, NULL,
                               "senders in each group, and as many receivers [4]", false};
    table[2] = (struct option){"bytes", OPTION_SIZE, &own->bytes, NULL, "of each message [100B]", false};
    return 3;
}

static int64_t pipes_of(const struct settings *settings)
{
    return settings->groups * settings->members;
}

static int check(const struct settings *settings)
{
    if (settings->groups < 1 || settings->groups > MOST_GROUPS || settings->members < 1 ||
        settings->members > MOST_MEMBERS || pipes_of(settings) > MOST_PIPES) {
        return refuse(EXIT_USAGE, "--groups and --members must be 1 at least, and %d at most when multiplied.", MOST_PIPES);
    }
    if (settings->bytes < 1 || settings->bytes > MOST_BYTES) {
        return refuse(EXIT_USAGE, "--bytes of a message must lie between 1 and %d: longer ones would get mixed.", MOST_BYTES);
    }
    const int64_t needed_bytes = pipes_of(settings) * (PIPE_BYTES + 2 * (int64_t)THREAD_BYTES);
    const int64_t available_bytes = os_memory_available_bytes();
    if (needed_bytes > available_bytes / 100 * MOST_PERCENT) {
        return refuse(EXIT_FAILED, "these pipes and threads may take %" PRId64 " MiB, of %" PRId64 " MiB that are available "
                                   "now.\nTake less --groups, or less --members.",
                      needed_bytes / MIB, available_bytes / MIB);
    }
    return EXIT_MEASURED;
}

static void free_pipes(struct settings *settings)
{
    for (int64_t i = 0; i < pipes_of(settings); i++) {
        os_fifo_destroy(settings->pipes[i]);
    }
    free(settings->pipes);
}

static int prepare(struct load_run *run)
{
    struct settings *const settings = run->settings;
    const int code = check(settings);
    if (code != EXIT_MEASURED) {
        return code;
    }
    settings->pipes = calloc((size_t)pipes_of(settings), sizeof(struct os_fifo *));
    if (settings->pipes == NULL) {
        return refuse(EXIT_FAILED, "there is no memory for the load.");
    }
    for (int64_t i = 0; i < pipes_of(settings); i++) {
        const enum os_status status = os_fifo_create(&settings->pipes[i]);
        if (status != OS_OK) {
            free_pipes(settings);
            return refuse(EXIT_FAILED, "only %" PRId64 " of %" PRId64 " pipes can be had here: %s.\n"
                                                                      "Take less --groups.", i,
                          pipes_of(settings), os_status_text(status));
        }
    }
    run->threads = 2 * (uint32_t)pipes_of(settings);
    run->roams = true;
    return EXIT_MEASURED;
}

/* To all receivers of the group; its members begin with different ones. Of many senders that wait for room in one pipe,
 * some kernels let the same one win for long: so the receivers, of whom each has a pipe of its own, say what was done. */
static enum os_status send_to_all(struct load_thread *thread, struct os_fifo **group, uint32_t first)
{
    const struct settings *const settings = thread->run->settings;
    const char message[MOST_BYTES] = {0};
    const uint32_t members = (uint32_t)settings->members;
    enum os_status status = OS_OK;
    load_takes_part(thread);
    while (status == OS_OK && !load_must_end(thread)) {
        for (uint32_t i = 0; i < members && status == OS_OK; i++) {
            status = os_fifo_write_or_stop(group[(first + i) % members], message, (size_t)settings->bytes);
        }
    }
    return status;
}

static enum os_status receive(struct load_thread *thread, struct os_fifo *pipe)
{
    const struct settings *const settings = thread->run->settings;
    char message[MOST_BYTES];
    enum os_status status = OS_OK;
    while (status == OS_OK && !load_must_end(thread)) {
        status = os_fifo_read_or_stop(pipe, message, (size_t)settings->bytes);
        if (status == OS_OK) {
            load_did(thread, 1, (uint64_t)settings->bytes);
        }
    }
    return status;
}

/* Threads of a group stand together: senders, then receivers. */
static void work(struct load_thread *thread)
{
    struct settings *const settings = thread->run->settings;
    const uint32_t members = (uint32_t)settings->members;
    const uint32_t member = thread->index % (2 * members);
    struct os_fifo **const group = settings->pipes + (size_t)(thread->index / (2 * members)) * members;
    const enum os_status status =
        member < members ? send_to_all(thread, group, member) : receive(thread, group[member - members]);
    if (status != OS_OK && status != OS_INTERRUPTED) {
        load_failed(thread, "a message can't go through its pipe", status);
    }
}

static void finish(struct load_run *run, struct json *report)
{
    struct settings *const settings = run->settings;
    if (report != NULL) {
        json_integer(report, "groups", settings->groups);
        json_integer(report, "members", settings->members);
        json_integer(report, "message_bytes", settings->bytes);
    }
    free_pipes(settings);
}

const struct load load_pipe = {
    .name = "pipe",
    .summary = "groups of threads that send messages to each other through pipes",
    .unit = "messages",
    .keeps_cpus_busy = true,
    .settings_bytes = sizeof(struct settings),
    .options = options,
    .prepare = prepare,
    .work = work,
    .finish = finish,
};
