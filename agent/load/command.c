/*
 * Another program as a load, such as stress-ng, hackbench or iperf3: confined to the CPUs, its output thrown away,
 * started again whenever it has ended well. It and all that it started end with the load.
 */
#include "load/load.h"

#include "os/process.h"
#include "os/words.h"

enum { LOOK_INTERVAL_MS = 10, NS_PER_MS = 1000000, RUNNING_AFTER_MS = 200 };
enum { KILLED = 128, HIGHEST_SIGNAL = 64 }; /* a code above these is a program's own, as the 255 of ssh and perl */

struct settings {
    struct os_words *words;
};

static int prepare(struct load_run *run)
{
    struct settings *const settings = run->settings;
    if (run->argc == 0) {
        return refuse(EXIT_USAGE, "name the program behind --: tauto-agent load command -- stress-ng --cpu 2.");
    }
    run->threads = 1;
    run->roams = true;
    return os_words_create(&settings->words) == OS_OK ? EXIT_MEASURED : refuse(EXIT_FAILED, "the load can't be set up.");
}

static void tell_not_started(struct load_thread *thread, const char *program, enum os_status status)
{
    if (status == OS_NOT_FOUND) {
        load_failed_because(thread, EXIT_USAGE,
                            "the program '%s' is not there. Install it on the machine under test, or name it with its path.",
                            program);
    } else if (status == OS_NOT_PERMITTED) {
        load_failed_because(thread, EXIT_NOT_PERMITTED, "'%s' is no program that this user may start.", program);
    } else {
        load_failed(thread, program, status);
    }
}

static void tell_bad_end(struct load_thread *thread, const char *program, int code)
{
    struct settings *const settings = thread->run->settings;
    os_words_take(settings->words);
    const char *const last = os_words_last(settings->words);
    const char *const between = last[0] == '\0' ? "" : ": ";
    if (code > KILLED && code <= KILLED + HIGHEST_SIGNAL) {
        load_failed_because(thread, EXIT_FAILED, "the program '%s' was ended by signal %d%s%s", program, code - KILLED,
                            between, last);
    } else {
        load_failed_because(thread, EXIT_FAILED, "the program '%s' ended with code %d%s%s", program, code, between, last);
    }
}

/* One run of the program, to its end or ours. Counted once, when it has lived a while or has ended well. False: no more. */
static bool run_once(struct load_thread *thread, const struct os_process_attributes *attributes)
{
    struct settings *const settings = thread->run->settings;
    struct os_process *process = NULL;
    const enum os_status status = os_process_start(&process, attributes);
    if (status != OS_OK) {
        tell_not_started(thread, attributes->argv[0], status);
        return false;
    }
    const int64_t begin_ns = os_now_ns();
    bool counted = false;
    bool ended = false;
    int code = 0;
    while (!load_must_end(thread)) {
        ended = os_process_has_ended(process, &code);
        os_words_take(settings->words);
        if (!counted && (ended ? code == 0 : os_now_ns() - begin_ns > (int64_t)RUNNING_AFTER_MS * NS_PER_MS)) {
            load_did(thread, 1, 0);
            counted = true;
        }
        if (ended) {
            break;
        }
        os_process_wait(process, false, os_now_ns() + (int64_t)LOOK_INTERVAL_MS * NS_PER_MS);
    }
    os_process_free(process);
    if (ended && code != 0) {
        tell_bad_end(thread, attributes->argv[0], code);
    }
    return !ended || code == 0;
}

static void work(struct load_thread *thread)
{
    const struct settings *const settings = thread->run->settings;
    const struct os_process_attributes attributes = {
        .argv = thread->run->argv,
        .cpu = OS_CPU_ANY, /* the process's own: all that were asked for */
        .quiet = true,
        .errors = os_words_handle(settings->words),
    };
    while (!load_must_end(thread) && run_once(thread, &attributes)) {
    }
}

static void finish(struct load_run *run, struct json *report)
{
    struct settings *const settings = run->settings;
    if (report != NULL) {
        json_open_array(report, "command");
        for (int i = 0; i < run->argc; i++) {
            json_text(report, NULL, run->argv[i]);
        }
        json_close_array(report);
    }
    os_words_destroy(settings->words);
}

const struct load load_command = {
    .name = "command",
    .summary = "another program, started again whenever it ends",
    .unit = "runs of the program",
    .takes_command = true,
    .settings_bytes = sizeof(struct settings),
    .prepare = prepare,
    .work = work,
    .finish = finish,
};
