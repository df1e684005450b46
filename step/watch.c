/* The parent: it starts the program, waits for its loops, and drains what they measure. */
#include "watch.h"

#include "experiment/priority.h"
#include "format.h"
#include "message.h"
#include "step.h"

#include <inttypes.h>
#include <string.h>

enum { NS_PER_MS = 1000000, LOOPS_WITHIN_S = 60, SETTLES_WITHIN_MS = 1000, LEAST_ROWS = 1024, MOST_ROWS = 65536, MOST_ROWS_OUTSIDE = 8192,
       MOST_WARMUP = 1 << 24 };
static const uint64_t most_rows_asked = UINT64_C(1) << 32;
static const int64_t ns_per_s = 1000000000;

static const struct column columns[WATCH_COLUMNS] = {
    [WATCH_K] = {"k", "number of the release, as the program counts", "1"},
    [WATCH_BEGIN] = {"begin_ns", "time stamp of TAUTO_BEGIN", NULL},
    [WATCH_END] = {"end_ns", "time stamp of TAUTO_END", NULL},
    [WATCH_PREVIOUS] = {"previous_ns", "begin of the step before", NULL},
    [WATCH_SCHEDULED] = {"scheduled_ns", "the release: as the program tells it, or the first one + k * period", NULL},
};
/* The last two need a period; without one they are left out, and the first is the execution time. */
static const struct measure measures[] = {
    {"response_ns", "release to the end of the step", WATCH_SCHEDULED, WATCH_END},
    {"latency_ns", "release to the begin of the step", WATCH_SCHEDULED, WATCH_BEGIN},
    {"execution_ns", "execution time of the step, with what preempted it", WATCH_BEGIN, WATCH_END},
    {"interval_ns", "begin of the step before to the begin of this one", WATCH_PREVIOUS, WATCH_BEGIN},
};
enum { MEASURES = sizeof measures / sizeof measures[0], MEASURES_OF_PERIOD = 2 };

static struct schema schema_of(bool has_period)
{
    return (struct schema){
        .columns = columns,
        .column_count = has_period ? WATCH_COLUMNS : (uint32_t)WATCH_SCHEDULED,
        .measures = measures + (has_period ? 0 : MEASURES_OF_PERIOD),
        .measure_count = MEASURES - (has_period ? 0 : MEASURES_OF_PERIOD),
        .may_lack = 1U << WATCH_PREVIOUS,
    };
}

/* More than a pointer reaches, where that has 32 bits and the memory is still to be refused. */
static uint64_t loop_bytes(const struct watch_run *run)
{
    return sizeof(struct tautochrone_loop) + run->rows * sizeof(struct tautochrone_row);
}

struct tautochrone_loop *watch_loop(const struct watch_run *run, uint64_t number)
{
    return (struct tautochrone_loop *)((char *)(run->memory + 1) + number * loop_bytes(run));
}

bool watch_has_ended(struct watch_run *run, int64_t wait_ns)
{
    if (run->options->pid != 0) {
        run->has_ended = run->has_ended || outside_has_ended(&run->outside, wait_ns);
    } else if (!run->has_ended) {
        run->has_ended = step_child_wait(&run->child, os_now_ns() + wait_ns, &run->ending);
    }
    return run->has_ended;
}

void watch_put_down(struct watch_run *run)
{
    const int64_t until_ns = os_now_ns() + run->options->conditions.budget_ns;
    if (run->options->pid != 0) { /* it is not ours to end */
        outside_stop(&run->outside);
        return;
    }
    if (run->is_left) {
        return;
    }
    if (run->end != WATCH_HANGS) {
        step_program_ask_to_end(&run->child);
    }
    int64_t killed_ns = 0;
    while (!watch_has_ended(run, NS_PER_MS) && !run->is_left) {
        if (run->end == WATCH_HANGS || os_now_ns() > until_ns || os_stop_requested() == OS_STOP_AT_ONCE) {
            step_child_kill(&run->child);
            killed_ns = killed_ns == 0 ? os_now_ns() : killed_ns;
            run->is_left = os_now_ns() > killed_ns + step_child_patience_ns;
        }
    }
    if (run->is_left) {
        warn("%s can't be ended, as it may be another user's, and goes on.", run->name);
        outside_stop(&run->outside);
    }
    step_child_sweep();
}

static const char *advice_for_no_loop(const struct watch_run *run)
{
    if (!run->options->from_outside) {
        return "Its loop needs TAUTO_BEGIN(k) and TAUTO_END(k): `tauto watch --header c` (or rust, python).";
    }
    switch (run->options->wish.way) {
    case OUTSIDE_PROBES:
        return "A loop is a thread that comes by both probes, three times or more; --thread names the only one that counts.";
    case OUTSIDE_CALL:
        return "A loop is a thread that makes this call three times or more. `strace -c -f` lists the calls that yours makes.";
    default:
        return "A loop is a thread that sleeps with nanosleep or clock_nanosleep, three times or more. Where yours waits in "
               "another system call, name that: --by read; `strace -c -f` lists them.";
    }
}

static int refuse_early_end(struct watch_run *run)
{
    if (run->program.status != OS_OK) {
        const struct watch_options *const options = run->options;
        return priority_refuse_thread(watch_attributes(options).policy, options->priority, run->program.status);
    }
    watch_tell_end(run, " before a loop of it began");
    if (run->failure[0] == '\0') {
        format_text(run->failure, sizeof run->failure, "%s ended before a loop of it began.", run->name);
    }
    return refuse((enum exit_code)EXIT_OF_CODE, "%s\n%s", run->failure, advice_for_no_loop(run));
}

/* Programs that it starts are found, too. Returns an exit code. */
static int follow(struct watch_run *run, bool has_begun)
{
    enum { FOLLOW_EVERY_MS = 20 };
    const int64_t now_ns = os_now_ns();
    if (!run->options->from_outside || now_ns < run->followed_ns + (int64_t)FOLLOW_EVERY_MS * NS_PER_MS) {
        return EXIT_MEASURED;
    }
    run->followed_ns = now_ns;
    outside_follow(&run->outside, run->options->pid != 0 ? run->options->pid : run->child.number);
    for (uint64_t i = 0; i < WATCH_LOOPS_LIMIT; i++) { /* a thread that has just begun may have the name of another yet */
        struct tautochrone_loop *const loop = watch_loop(run, i);
        outside_name(loop->process, loop->thread, loop->name);
    }
    const struct os_answer answer = outside_sees(&run->outside);
    if (answer.availability == OS_DENIED) {
        return refuse(EXIT_NOT_PERMITTED, "%s: %s.", run->name, answer.why);
    }
    return answer.availability == OS_PRESENT || !has_begun
               ? EXIT_MEASURED
               : refuse((enum exit_code)EXIT_OF_CODE, "%s, --by %s: %s.\n`readelf -n FILE` lists the probes of a file.",
                        run->name, run->options->by, answer.why);
}

/* Until as many loops are there as were asked for; others that begin soon after are taken, too. Returns an exit code. */
static int wait_for_loops(struct watch_run *run)
{
    enum { PROBES_WITHIN_NS = 1000000000 };
    const int64_t began_ns = os_now_ns();
    int64_t found_ns = 0;
    uint32_t places[WATCH_LOOPS_LIMIT];
    const uint32_t wanted = (uint32_t)run->options->loops;
    while (found_ns == 0 || os_now_ns() < found_ns + (int64_t)SETTLES_WITHIN_MS * NS_PER_MS) {
        const bool has_ended = watch_has_ended(run, NS_PER_MS);
        const int code = has_ended ? EXIT_MEASURED : follow(run, os_now_ns() > began_ns + PROBES_WITHIN_NS);
        const uint32_t there = watch_claimed(run, places);
        if (code != EXIT_MEASURED) {
            return code;
        }
        if (has_ended && there == 0) {
            return refuse_early_end(run);
        }
        if (os_stop_requested() != OS_STOP_NONE) {
            return refuse(EXIT_FAILED, "stopped before a loop of %s began.", run->name);
        }
        found_ns = found_ns == 0 && there >= wanted ? os_now_ns() : found_ns;
        if (has_ended || there == WATCH_LOOPS_LIMIT) {
            break;
        }
        if (found_ns == 0 && os_now_ns() > began_ns + LOOPS_WITHIN_S * ns_per_s) {
            return refuse((enum exit_code)EXIT_OF_CODE,
                          "%s: %" PRIu32 " of %" PRIu32 " loops began within %d s.\n%s", run->name, there, wanted,
                          LOOPS_WITHIN_S, advice_for_no_loop(run));
        }
    }
    run->loop_count = watch_claimed(run, places);
    for (uint32_t i = 0; i < run->loop_count; i++) {
        run->loops[i].loop = watch_loop(run, places[i]);
    }
    run->from_ns = found_ns;
    return EXIT_MEASURED;
}

/* The first step of a loop has no interval. What came before the recording is counted of a loop without a period, too. */
static void write_own_books(struct json *json, uint32_t source, const void *given)
{
    const struct watch_run *const run = given;
    if (run->options->period_ns == 0) {
        json_unsigned(json, "warmup", run->recorder.sources[source].counters.warmup);
    }
    json_unsigned(json, "unseen", run->loops[source].seen > 0 && run->options->warmup == 0 ? 1 : 0);
}

/* A loop begins anew that filled its ring while others were waited for, and so does each where late cycles are explained:
 * until now their recorder was tried out beside it. What came before counts as warm-up. */
static bool begins_anew(struct watch_run *run, const struct watched *watched)
{
    const bool is_full = __atomic_load_n(&watched->loop->dropped, __ATOMIC_ACQUIRE) != 0;
    const bool is_explained = run->options->conditions.recording.blame.text != NULL;
    return !run->has_ended && (is_full || (is_explained && !watch_has_ended(run, 0)));
}

static void begin_anew(struct watched *watched)
{
    struct tautochrone_loop *const loop = watched->loop;
    watched->read = __atomic_load_n(&loop->written, __ATOMIC_ACQUIRE);
    __atomic_store_n(&loop->read, watched->read, __ATOMIC_RELEASE);
    watched->dropped_told = __atomic_load_n(&loop->dropped, __ATOMIC_ACQUIRE);
    watched->dropped_before = watched->dropped_told;
    watched->source->counters.warmup += watched->read + watched->dropped_told;
}

static int record(struct watch_run *run)
{
    struct recorder *const recorder = &run->recorder;
    struct source *const source = &recorder->sources[0];
    const struct os_thread_attributes ordinary = {.name = "tauto-watch", .policy = OS_POLICY_OTHER, .cpu = OS_CPU_ANY};
    for (uint32_t i = 0; i < run->loop_count; i++) {
        run->loops[i] = (struct watched){
            .loop = run->loops[i].loop, .source = &recorder->sources[i], .previous_ns = NO_VALUE};
        watch_name_source(run, i);
        if (begins_anew(run, &run->loops[i])) {
            begin_anew(&run->loops[i]);
        }
    }
    recorder->own_books = write_own_books;
    recorder->own_given = run;
    int code = recorder_open_output(recorder);
    if (code == EXIT_MEASURED) {
        code = watch_write_header(run);
    }
    if (code == EXIT_MEASURED) {
        const enum os_status status = os_thread_create_ordinary(&source->thread, &ordinary, watch_read, run);
        code = status == OS_OK ? EXIT_MEASURED
                               : refuse(EXIT_FAILED, "the thread that reads can't be started: %s.", os_status_text(status));
    }
    if (code != EXIT_MEASURED) {
        recorder_abandon(recorder);
        return code;
    }
    recorder_run(recorder);
    watch_warn(run);
    watch_write_event(run);
    code = recorder_close(recorder);
    return run->failure[0] == '\0' || code != EXIT_MEASURED ? code
                                                          : refuse((enum exit_code)EXIT_OF_CODE, "%s", run->failure);
}

static struct os_thread_attributes thread_of(const void *context, uint32_t source)
{
    (void)source;
    return watch_attributes(((const struct watch_run *)context)->options);
}

static int64_t number_of(const void *context, uint32_t source)
{
    return (int64_t)((const struct watch_run *)context)->loops[source].loop->thread;
}

static int open_and_record(struct watch_run *run)
{
    const struct watch_options *const options = run->options;
    const struct conditions *const conditions = &options->conditions;
    const struct schema schema = schema_of(options->period_ns > 0);
    enum os_status status = OS_OK;
    if (options->pid == 0) {
        status = step_child_start(&run->child, step_program_live, &run->program);
    }
    if (status != OS_OK) {
        return refuse(EXIT_FAILED, "the process for %s can't be started: %s.", run->name, os_status_text(status));
    }
    int code = follow(run, false);
    if (code == EXIT_MEASURED) {
        code = wait_for_loops(run);
    }
    if (code == EXIT_MEASURED) {
        struct recorder_options wanted =
            recording_for_recorder(&conditions->recording, (int64_t)run->rows, conditions->budget_obtained_ns,
                                   options->period_ns > 0);
        if (conditions->recording.blame.text != NULL) {
            wanted.thread_of = thread_of;
            wanted.number_of = number_of;
            wanted.context = run;
        }
        code = recorder_open(&run->recorder, &wanted, &schema, run->loop_count);
    }
    if (code == EXIT_MEASURED) {
        code = record(run);
    }
    watch_put_down(run);
    return code;
}

/* As many rows as come in half a minute, within bounds: the program's memory has them all. */
static int make_memory(struct watch_run *run)
{
    const struct watch_options *const options = run->options;
    const int64_t wanted = recording_ring_rows(&options->conditions.recording, INT64_MAX, options->period_ns);
    const bool is_asked = options->conditions.recording.ring_rows != 0;
    if (wanted < 0) {
        return EXIT_USAGE;
    }
    if (options->warmup > MOST_WARMUP) {
        return refuse(EXIT_USAGE, "--warmup: at most %d steps of each loop.", MOST_WARMUP);
    }
    const int64_t most = options->from_outside ? MOST_ROWS_OUTSIDE : MOST_ROWS; /* some kernels allow a map 4 MiB */
    const uint64_t rows = (uint64_t)(is_asked || wanted < most ? wanted : most);
    for (run->rows = LEAST_ROWS; run->rows < rows || run->rows < 2 * (uint64_t)options->warmup; run->rows *= 2) {
    }
    const uint64_t bytes = sizeof *run->memory + WATCH_LOOPS_LIMIT * loop_bytes(run);
    if (run->rows > most_rows_asked || bytes > SIZE_MAX / 2 || bytes > (uint64_t)os_memory_available_bytes()) {
        return refuse(EXIT_USAGE, "the rows of %d loops need %" PRIu64 " MB, more than is free.\nGive --ring fewer rows.",
                      WATCH_LOOPS_LIMIT, bytes >> 20);
    }
    void *memory = NULL;
    if (options->from_outside) {
        struct outside_wish wish = options->wish;
        wish.rows = run->rows;
        wish.loops = WATCH_LOOPS_LIMIT;
        const struct os_answer answer = outside_open(&run->outside, &wish, &memory);
        if (answer.availability != OS_PRESENT) {
            return refuse(answer.availability == OS_DENIED ? EXIT_NOT_PERMITTED : EXIT_USAGE, "--by %s: %s.", options->by,
                          answer.why);
        }
    } else {
        const enum os_status status = step_memory_for_program(&memory, (size_t)bytes, &run->program.file);
        if (status != OS_OK) {
            return refuse(EXIT_FAILED, "memory can't be shared with the program: %s.\nGive --ring fewer rows.",
                          os_status_text(status));
        }
    }
    run->memory = memory;
    *run->memory = (struct tautochrone_memory){
        .magic = TAUTOCHRONE_LOOP_MAGIC, .loops = WATCH_LOOPS_LIMIT, .rows = run->rows};
    return EXIT_MEASURED;
}

/* Its first word, without folders. A path with a space is in quotes. */
static void name_program(struct watch_run *run, const char *command)
{
    const bool is_quoted = command[0] == '\'';
    command += is_quoted;
    const size_t length = strcspn(command, is_quoted ? "'" : " ");
    size_t from = length;
    while (from > 0 && command[from - 1] != '/') {
        from--;
    }
    const size_t kept = length - from < sizeof run->name ? length - from : sizeof run->name - 1;
    memcpy(run->name, command + from, kept);
    run->name[kept] = '\0';
}

int experiment_watch(int argc, char **argv)
{
    struct watch_options options;
    int code = EXIT_MEASURED;
    if (!watch_options_read(&options, argc, argv, &code)) {
        return code;
    }
    code = conditions_prepare(&options.conditions);
    if (code != EXIT_MEASURED) {
        return code;
    }
    void *memory = NULL;
    if (os_memory_allocate(&memory, sizeof(struct watch_run)) != OS_OK) {
        return refuse(EXIT_FAILED, "no memory for the experiment.");
    }
    struct watch_run *const run = memory;
    run->options = &options;
    run->outside = (struct outside){.map = -1, .watched = -1};
    if (options.pid == 0) {
        name_program(run, options.program);
    }
    run->program = (struct step_program){
        .command = options.program,
        .variable = options.from_outside ? NULL : TAUTOCHRONE_LOOP_VARIABLE,
        .file = -1,
        .is_ranked = options.policy >= 0,
        .attributes = watch_attributes(&options),
    };
    code = make_memory(run);
    if (code == EXIT_MEASURED && options.pid != 0 && !outside_take(&run->outside, options.pid, run->name)) {
        code = refuse(EXIT_USAGE, "--pid %" PRId64 ": there is no such process.", options.pid);
    }
    if (code == EXIT_MEASURED && step_share(run, sizeof *run) != OS_OK) {
        code = refuse(EXIT_FAILED, "memory can't be shared with the program.");
    }
    if (code == EXIT_MEASURED) {
        code = open_and_record(run);
    }
    outside_close(&run->outside);
    os_memory_free(memory, sizeof *run);
    return code;
}
