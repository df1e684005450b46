#include "agent.h"

#include "lines.h"
#include "message.h"
#include "options.h"
#include "os/process.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_MS = 1000000, LONGEST_ORDER = 4096, MOST_LOOKS = 64, LOOK_AGAIN_MS = 10, KILLED_EXIT_CODE = 137 };
/* From asking to end to killing, and from killing to giving up on what can't be killed. */
static const int64_t grace_ns = 300LL * NS_PER_MS;
static const int64_t kill_patience_ns = 1000LL * NS_PER_MS;
/* Waking later than this means that the guard itself got no CPU. The one who brings us the lines may have had none
 * either, and gets this much more time. */
static const int64_t starved_ns = 50LL * NS_PER_MS;
static const int64_t second_look_ns = 200LL * NS_PER_MS;

enum stage { STAGE_RUNNING, STAGE_ENDING, STAGE_KILLED };

struct guard {
    struct os_process *process;
    struct lines lines;
    int64_t patience_ns; /* 0: silence is no sign */
    int64_t silent_at_ns; /* INT64_MAX: never */
    enum stage stage;
    int64_t next_at_ns; /* when the next stage comes, past STAGE_RUNNING */
};

struct guard_options {
    int64_t patience_ns;
    const char **joins;
    size_t join_count;
    char *const *command;
};

static void advance(struct guard *guard, enum stage stage)
{
    const bool kills = stage == STAGE_KILLED;
    os_process_signal(guard->process, kills ? OS_PROCESS_KILL : OS_PROCESS_END);
    guard->stage = stage;
    guard->next_at_ns = os_now_ns() + (kills ? kill_patience_ns : grace_ns);
}

static void obey(struct guard *guard, const char *order)
{
    if (strcmp(order, "stop") == 0) {
        os_process_signal(guard->process, OS_PROCESS_END);
    } else if (strcmp(order, "close") == 0) {
        os_process_close_input(guard->process);
    } else if (strcmp(order, "kill") == 0 && guard->stage != STAGE_KILLED) {
        advance(guard, STAGE_KILLED);
    }
}

/* Everything that waits, before anything is judged. */
static void listen_to_orders(struct guard *guard)
{
    bool heard = false;
    for (int i = 0; i < MOST_LOOKS && lines_take(&guard->lines); i++) {
        size_t length = 0;
        bool cut = false;
        for (const char *line = lines_next(&guard->lines, &length, &cut); line != NULL;
             line = lines_next(&guard->lines, &length, &cut)) {
            heard = true;
            obey(guard, line);
        }
    }
    if (heard && guard->patience_ns > 0) {
        guard->silent_at_ns = os_now_ns() + guard->patience_ns;
    }
}

static bool is_cut(struct guard *guard, bool was_starved)
{
    if (guard->lines.has_ended || os_stop_requested() != OS_STOP_NONE) {
        return true;
    }
    const int64_t now_ns = os_now_ns();
    if (now_ns >= guard->silent_at_ns && was_starved) {
        guard->silent_at_ns = now_ns + second_look_ns;
    }
    return now_ns >= guard->silent_at_ns;
}

static int watch(struct guard *guard)
{
    int code = 0;
    while (!os_process_has_ended(guard->process, &code)) {
        const bool ending = guard->stage != STAGE_RUNNING;
        const int64_t until_ns = ending ? guard->next_at_ns : guard->silent_at_ns;
        if (ending && os_stop_requested() != OS_STOP_NONE) {
            os_sleep_until(os_now_ns() + LOOK_AGAIN_MS * (int64_t)NS_PER_MS); /* the other wait ends at once by now */
        } else {
            os_process_wait(guard->process, !guard->lines.has_ended, until_ns);
        }
        const bool was_starved = !ending && os_now_ns() - starved_ns > until_ns;
        listen_to_orders(guard);
        if (guard->stage == STAGE_RUNNING && is_cut(guard, was_starved)) {
            os_process_close_input(guard->process);
            advance(guard, STAGE_ENDING);
        } else if (guard->stage == STAGE_ENDING && os_now_ns() >= guard->next_at_ns) {
            advance(guard, STAGE_KILLED);
        } else if (guard->stage == STAGE_KILLED && os_now_ns() >= guard->next_at_ns) {
            return KILLED_EXIT_CODE;
        }
    }
    return code;
}

static int refuse_start(const struct guard_options *options, enum os_status status, size_t failed_join)
{
    const enum exit_code code = status == OS_NOT_PERMITTED ? EXIT_NOT_PERMITTED : EXIT_FAILED;
    if (failed_join < options->join_count) {
        return refuse(code, "--join %s: the command can't be put there: %s.", options->joins[failed_join],
                      os_status_text(status));
    }
    return refuse(code, "%s can't be started: %s.", options->command[0], os_status_text(status));
}

static int run(const struct guard_options *options)
{
    size_t failed_join = options->join_count;
    const struct os_process_attributes attributes = {
        .argv = options->command,
        .joins = options->joins,
        .join_count = options->join_count,
        .failed_join = &failed_join,
        .cpu = OS_CPU_ANY,
        .has_input = true,
    };
    struct guard guard = {.patience_ns = options->patience_ns, .silent_at_ns = INT64_MAX};
    if (os_stop_listen() != OS_OK || !lines_begin(&guard.lines, LONGEST_ORDER)) {
        return refuse(EXIT_FAILED, "the guard can't be set up.");
    }
    const enum os_status status = os_process_start(&guard.process, &attributes);
    int code = EXIT_FAILED;
    if (status == OS_OK) {
        os_threads_unpin(); /* the command holds the CPU that both were put on */
        if (guard.patience_ns > 0) {
            guard.silent_at_ns = os_now_ns() + guard.patience_ns;
        }
        code = watch(&guard);
        os_process_free(guard.process);
    } else {
        code = refuse_start(options, status, failed_join);
    }
    lines_free(&guard.lines);
    return code;
}

/* Takes `--join FILE`, which may stand there several times, out of the words before "--". Returns how many are left;
 * `*separator` is the place of "--", or `argc`. -1: a file is missing. */
static int take_joins(struct guard_options *options, int argc, char **argv, int *separator)
{
    int kept = 0;
    int i = 0;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--join=", strlen("--join=")) == 0) {
            options->joins[options->join_count++] = argv[i] + strlen("--join=");
        } else if (strcmp(argv[i], "--join") != 0) {
            argv[kept++] = argv[i];
        } else if (i + 1 < argc && strcmp(argv[i + 1], "--") != 0) {
            options->joins[options->join_count++] = argv[++i];
        } else {
            return -1;
        }
    }
    *separator = i;
    return kept;
}

static int read_and_run(struct guard_options *options, int argc, char **argv)
{
    struct option table[] = {
        {"patience", OPTION_DURATION, &options->patience_ns, NULL, "longest silence of standard input [any]", false},
    };
    static const char usage[] =
        "usage: tauto-agent guard [--patience TIME] [--join FILE]... -- COMMAND ARGUMENT...\n\n"
        "Runs COMMAND as long as somebody speaks: the end of standard input ends it and all that it started. Lines on\n"
        "standard input: an empty one is a sign of life; stop: SIGTERM; close: its standard input ends; kill:\n"
        "SIGKILL.\n\n"
        "  --join FILE                        it writes 0 there before it begins: cgroup.procs, tasks\n";
    int separator = argc;
    const int kept = take_joins(options, argc, argv, &separator);
    if (kept < 0) {
        return refuse(EXIT_USAGE, "--join needs a file.");
    }
    int code = EXIT_USAGE;
    if (!options_read_or_help(table, sizeof table / sizeof table[0], kept, argv, usage, &code)) {
        return code;
    }
    if (separator + 1 >= argc) {
        return refuse(EXIT_USAGE, "guard needs a command: tauto-agent guard [options] -- COMMAND ARGUMENT...");
    }
    options->command = argv + separator + 1; /* main's argv ends with NULL */
    return run(options);
}

int guard_main(int argc, char **argv)
{
    struct guard_options options = {.joins = calloc((size_t)argc + 1, sizeof *options.joins)};
    if (options.joins == NULL) {
        return refuse(EXIT_FAILED, "there is no memory for the guard.");
    }
    const int code = read_and_run(&options, argc, argv);
    free(options.joins);
    return code;
}
