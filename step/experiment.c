/* The parent: it sets up the run, waits until the child's code is initialised, and drains what the child measures. */
#include "peer.h"
#include "step.h"

#include "experiment/priority.h"
#include "format.h"
#include "message.h"
#include "os/process.h"

#include <inttypes.h>
#include <string.h>

enum { NS_PER_MS = 1000000, START_DELAY_MS = 20, LOADS_WITHIN_S = 60 };
static const int64_t ns_per_s = 1000000000;

static const struct column columns[STEP_COLUMNS] = {
    [STEP_SCHEDULED] = {"scheduled_ns", "programmed release, start + k * period", NULL},
    [STEP_WAKE] = {"wake_ns", "first time stamp taken by the woken thread", NULL},
    [STEP_BEGIN] = {"begin_ns", "just before the step is called", NULL},
    [STEP_END] = {"end_ns", "just after it has returned", NULL},
    [STEP_CPU] = {"cpu_until_ns", "begin_ns + the CPU time that the step's thread used", NULL},
    [STEP_VOLUNTARY] = {"voluntary", "switches in which the step gave its CPU away, by waiting", "1"},
    [STEP_INVOLUNTARY] = {"involuntary", "switches in which its CPU was taken from the step", "1"},
    [STEP_MINOR] = {"minor_faults", "page faults of the step that needed no disk", "1"},
    [STEP_MAJOR] = {"major_faults", "page faults of the step that waited for a disk", "1"},
    [STEP_CYCLES] = {"cycles", "CPU cycles of the step in user mode", "1"},
    [STEP_INSTRUCTIONS] = {"instructions", "instructions of the step in user mode", "1"},
};
static const struct column explained_columns[EXPLAINED_COLUMNS] = {
    [EXPLAINED_HEAP] = {"heap_calls", "calls of malloc, free and their kin", "1"},
    [EXPLAINED_SYSTEM] = {"system_calls", "system calls, without those that are waits for a lock or start a thread", "1"},
    [EXPLAINED_LOCK] = {"lock_waits", "waits for a mutex, a condition variable or a semaphore", "1"},
    [EXPLAINED_THREAD] = {"threads_started", "threads that the step started", "1"},
};
enum { OWN_MEASURES = STEP_MEASURES - 2, FROM_A_RELEASE = 2 };
static const struct measure measures[OWN_MEASURES] = {
    {"response_ns", "release to the end of the step", STEP_SCHEDULED, STEP_END},
    {"latency_ns", "scheduling latency", STEP_SCHEDULED, STEP_WAKE},
    {"execution_ns", "execution time of the step, with what preempted it", STEP_BEGIN, STEP_END},
    {"cpu_time_ns", "CPU time of the step's own thread", STEP_BEGIN, STEP_CPU},
    {"off_cpu_ns", "time in the step without its CPU: preempted, or waiting", STEP_CPU, STEP_END},
};

/* Where outputs are sent, a step has responded when they are. Answers may be missing, and inputs before the first one. */
static void describe_exchange(struct step_run *run)
{
    const uint32_t at = run->exchange_at;
    struct measure *const further = run->measures + OWN_MEASURES;
    memcpy(run->columns + at, exchange_columns, sizeof exchange_columns);
    run->measures[0] =
        (struct measure){"response_ns", "release to the outputs of the step being sent", STEP_SCHEDULED, at + EXCHANGE_SENT};
    further[0] = (struct measure){"round_trip_ns", "outputs being sent to the arrival of their answer", at + EXCHANGE_SEND,
                                  at + EXCHANGE_ANSWERED};
    further[1] = (struct measure){"input_age_ns", "arrival of the inputs to the begin of the step", at + EXCHANGE_INPUT,
                                  STEP_BEGIN};
    run->schema.measure_count = STEP_MEASURES;
    run->schema.may_lack &= ~(1U << (at + EXCHANGE_SEND) | 1U << (at + EXCHANGE_SENT));
}

/* What a thread can't tell is missing in its row. Before the code is there, its outputs have no names yet, and as many
 * places as they can have. Real-fast there is no release to measure from. */
static void describe_rows(struct step_run *run, uint32_t outputs)
{
    run->exchange_at = run->options->exchange.text != NULL ? step_own_columns(run) : 0;
    const uint32_t all = step_columns(run);
    const uint32_t left_out = run->options->pace == STEP_REAL_FAST ? FROM_A_RELEASE : 0;
    memcpy(run->columns, columns, sizeof columns);
    memcpy(run->measures, measures, sizeof measures);
    if (run->options->explain) {
        memcpy(run->columns + STEP_EXPLAINED, explained_columns, sizeof explained_columns);
    }
    for (uint32_t i = 0; i < outputs; i++) {
        run->columns[all + i] = (struct column){run->output_names[i], "output of the code, after the step", "1"};
    }
    run->schema = (struct schema){
        .columns = run->columns,
        .column_count = all + outputs,
        .measures = run->measures + left_out,
        .measure_count = OWN_MEASURES - left_out,
        .reals = outputs,
        .may_lack = ((1U << all) - 1) & ~0U << STEP_CPU,
    };
    if (run->exchange_at != 0) {
        describe_exchange(run);
    }
    for (uint32_t i = 0; i < run->recorder->source_count && run->recorder->sources != NULL; i++) {
        run->recorder->sources[i].ring.row_words = all + outputs;
    }
}

static struct os_thread_attributes thread_of(const void *context, uint32_t source)
{
    return step_attributes(context, source);
}

static void harness_to_json(struct json *json, const struct step_run *run)
{
    json_open_object(json, "harness");
    json_text(json, "kind", run->kind->name);
    json_integer(json, "call_ns", run->call_ns);
    json_integer(json, "cpu_clock_ns", run->cpu_clock_ns);
    json_close_object(json);
}

static void source_to_json(struct json *json, const struct step_run *run)
{
    const struct step_options *const options = run->options;
    const struct os_thread_attributes attributes = step_attributes(options, run->instance);
    json_open_object(json, NULL);
    recorder_source_to_json(run->recorder, json, run->instance);
    if (options->pace == STEP_REAL_TIME) {
        json_integer(json, "start_ns", run->first_release_ns + options->warmup * options->period_ns);
    }
    requested_to_json(json, &attributes);
    obtained_to_json(json, attributes.policy, &run->obtained);
    json_close_object(json);
}

static int write_header(struct step_run *run)
{
    const struct step_options *const options = run->options;
    struct json json;
    recorder_header_begin(run->recorder, &json, "step");
    step_options_to_json(&json, options, (int64_t)run->recorder->options.ring_rows);
    harness_to_json(&json, run);
    if (run->exchange_at != 0) {
        exchange_to_json(&json, &options->exchange, run->is_stamped, &run->signals);
    }
    json_open_array(&json, "sources");
    for (int64_t i = 0; i < options->instances; i++) {
        source_to_json(&json, &run[i]);
    }
    json_close_array(&json);
    conditions_to_json(&json, &options->conditions);
    return recorder_header_end(run->recorder, &json);
}

/* The first step finds everything cold, so it is told apart. */
static void first_to_json(struct json *json, const int64_t *first)
{
    if (first[STEP_SCHEDULED] == 0) {
        json_null(json, "first");
        return;
    }
    json_open_object(json, "first");
    json_integer(json, "execution_ns", first[STEP_END] - first[STEP_BEGIN]);
    json_integer_or_null(json, "minor_faults", first[STEP_MINOR]);
    json_integer_or_null(json, "major_faults", first[STEP_MAJOR]);
    json_close_object(json);
}

/* How it went for the code, beside its rows. */
static void write_event(struct step_run *run)
{
    struct json json;
    if (!run->recorder->streaming) {
        return;
    }
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "event", "step");
    json_integer(&json, "time_ns", os_now_ns());
    json_integer(&json, "last_step", atomic_load(&run->step));
    first_to_json(&json, run->first);
    if (run->exchange_at != 0) {
        exchange_books_to_json(&json, &run->exchange);
    }
    if (run->failure[0] != '\0') {
        json_text(&json, "why", run->failure);
    }
    if (run->report.behind != 0) {
        json_integer(&json, "behind", run->report.behind);
    }
    json_integer_or_null(&json, "signal", run->ending.by_signal ? run->ending.value : INT64_MIN);
    json_integer_or_null(&json, "exit_code", run->ending.by_signal ? INT64_MIN : run->ending.value);
    json_close_object(&json);
    stream_write_json(&run->recorder->stream, FRAME_EVENT, &json);
    json_free(&json);
}

/* What its steps called, and which functions did. */
static void write_explained(struct step_run *run)
{
    struct json json;
    if (!run->recorder->streaming || run->explained == NULL) {
        return;
    }
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "event", "explained");
    json_integer(&json, "time_ns", os_now_ns());
    explained_to_json(&json, run->explained);
    json_close_object(&json);
    stream_write_json(&run->recorder->stream, FRAME_EVENT, &json);
    json_free(&json);
}

/* Until it has come so far that it is the parent's turn. Returns an exit code; refusals are told. */
static int wait_for_child(struct step_run *run, enum step_phase wanted)
{
    const int64_t until_ns = os_now_ns() + LOADS_WITHIN_S * ns_per_s;
    for (;;) {
        const bool has_ended = step_child_wait(&run->child, os_now_ns() + NS_PER_MS, &run->ending);
        const int phase = atomic_load_explicit(&run->phase, memory_order_acquire);
        if (phase == STEP_REFUSED) {
            return refuse((enum exit_code)run->code, "%s", run->why);
        }
        if (has_ended) {
            step_tell_end(run);
            return refuse((enum exit_code)EXIT_OF_CODE, "%s\nNothing was measured.", run->failure);
        }
        if (phase >= (int)wanted) {
            return EXIT_MEASURED;
        }
        if (os_stop_requested() != OS_STOP_NONE) {
            return refuse(EXIT_FAILED, "stopped before the first step.");
        }
        if (os_now_ns() > until_ns) {
            return refuse((enum exit_code)EXIT_OF_CODE, "%s: its init did not come back within %d s.", run->name,
                          LOADS_WITHIN_S);
        }
    }
}

/* The instance whose code ended the run, or the first. */
static struct step_run *telling(struct step_run *run)
{
    for (int64_t i = 0; i < run->options->instances; i++) {
        if (run[i].failure[0] != '\0') {
            return &run[i];
        }
    }
    return run;
}

static void put_down(struct step_run *run)
{
    for (int64_t i = 0; i < run->options->instances; i++) {
        step_put_down(&run[i]);
    }
    step_child_sweep();
}

/* Real-time priority comes last: initialising has no deadline, and may take its time. */
static int rank(struct step_run *run)
{
    const struct os_thread_attributes attributes = step_attributes(run->options, run->instance);
    const enum os_status status = step_child_rank(&run->child, &attributes);
    if (status != OS_OK) {
        return priority_refuse_thread((enum os_policy)run->options->policy, run->options->priority, status);
    }
    step_reach(run, STEP_RANKED);
    return wait_for_child(run, STEP_READY);
}

/* A guard alone waits for its child: it ends behind it. */
static void end_guards(struct step_run *run, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        step_child_kill(&run[i].child);
        (void)os_thread_join(run[i].source->thread);
    }
}

static int begin(struct step_run *run)
{
    struct recorder *const recorder = run->recorder;
    const struct os_thread_attributes ordinary = {.name = "tauto-guard", .policy = OS_POLICY_OTHER, .cpu = OS_CPU_ANY};
    const int64_t instances = run->options->instances;
    int code = recorder_open_output(recorder);
    if (code != EXIT_MEASURED) {
        return code;
    }
    const int64_t release_ns = os_now_ns() + (int64_t)START_DELAY_MS * NS_PER_MS;
    for (int64_t i = 0; i < instances; i++) {
        run[i].first_release_ns = release_ns;
    }
    code = write_header(run);
    atomic_store(&run->living, (int)instances);
    for (int64_t i = 0; i < instances && code == EXIT_MEASURED; i++) {
        struct source *const source = run[i].source;
        const enum os_status status = os_thread_create_ordinary(&source->thread, &ordinary, step_guard, &run[i]);
        if (status != OS_OK) {
            end_guards(run, i);
            return refuse(EXIT_FAILED, "the thread that watches over the step can't be started: %s.", os_status_text(status));
        }
        os_thread_stand_for(source->thread, run[i].child.number);
    }
    for (int64_t i = 0; i < instances && code == EXIT_MEASURED; i++) {
        step_reach(&run[i], STEP_RUNS);
    }
    return code;
}

static int measure(struct step_run *run)
{
    const int64_t instances = run->options->instances;
    int code = peer_start(&run->options->exchange, run->options->cpus.cpus[0]);
    if (code != EXIT_MEASURED) {
        return code;
    }
    for (int64_t i = 0; i < instances && code == EXIT_MEASURED; i++) { /* all of them before there are threads */
        const enum os_status status = step_child_start(&run[i].child, step_live, &run[i]);
        if (status != OS_OK) {
            code = refuse(EXIT_FAILED, "the process for %s can't be started: %s.", run->name, os_status_text(status));
        }
    }
    for (int64_t i = 0; i < instances && code == EXIT_MEASURED; i++) {
        code = wait_for_child(&run[i], STEP_INITIALISED);
    }
    for (int64_t i = 0; i < instances && code == EXIT_MEASURED; i++) {
        code = rank(&run[i]);
    }
    if (code == EXIT_MEASURED) {
        describe_rows(run, run->outputs);
        code = begin(run);
    }
    if (code == EXIT_MEASURED) {
        recorder_run(run->recorder);
    } else {
        put_down(run);
    }
    return code;
}

/* The ring and the counters, too: the child writes them. */
static int share(struct step_run *run)
{
    struct recorder *const recorder = run->recorder;
    const size_t instances = (size_t)run->options->instances;
    enum os_status status = OS_OK;
    for (size_t i = 0; i < instances && status == OS_OK; i++) {
        struct ring *const ring = &recorder->sources[i].ring;
        status = step_share(ring->rows, (size_t)ring->capacity * ring->row_words * sizeof(int64_t));
    }
    if (status == OS_OK) {
        status = step_share(recorder->sources, instances * sizeof *recorder->sources);
    }
    if (status == OS_OK && run->explained != NULL) {
        status = step_share(run->explained, sizeof *run->explained);
    }
    if (status == OS_OK) {
        status = step_share(run, instances * sizeof *run);
    }
    return status == OS_OK ? EXIT_MEASURED
                           : refuse(EXIT_FAILED, "memory can't be shared with the step: %s.\nGive --ring fewer rows.",
                                    os_status_text(status));
}

/* "cpu1", of several on one CPU "cpu1 #2". What the first one knows of its options holds for all. */
static void make_instances(struct step_run *run)
{
    const struct step_options *const options = run->options;
    for (uint32_t i = 0; i < (uint32_t)options->instances; i++) {
        struct step_run *const one = &run[i];
        if (i > 0) {
            *one = (struct step_run){.options = options, .kind = run->kind, .name = run->name, .step = -1};
            one->inputs = run->inputs;
            one->counts_events = run->counts_events;
        }
        one->leader = run;
        one->instance = i;
        one->recorder = run->recorder;
        one->source = &run->recorder->sources[i];
        const int32_t cpu = step_attributes(options, i).cpu;
        char *const name = one->source->name;
        enum { ROOM = sizeof one->source->name };
        format_text(name, ROOM, cpu == OS_CPU_ANY ? "any cpu" : "cpu%" PRId32, cpu);
        if ((uint32_t)options->instances > options->cpus.count) {
            format_text(name + strlen(name), ROOM - strlen(name), " #%" PRIu32, i / options->cpus.count + 1);
        }
    }
}

static int open_and_measure(struct step_run *run)
{
    const struct step_options *const options = run->options;
    const struct recording_options *const recording = &options->conditions.recording;
    const bool real_fast = options->pace == STEP_REAL_FAST;
    const int64_t ring_rows = recording_ring_rows(recording, options->count, real_fast ? 0 : options->period_ns);
    if (ring_rows < 0) {
        return EXIT_USAGE;
    }
    const char *why = NULL;
    if (options->inputs != NULL && !step_inputs_read(&run->inputs, options->inputs, run->why, sizeof run->why)) {
        return refuse(EXIT_USAGE, "%s", run->why);
    }
    struct step_counters tried;
    if (options->explain) {
        why = "what is explained would be counted, too";
    } else {
        run->counts_events = step_counters_open(&tried, step_hardware, &why);
        step_counters_close(&tried);
    }
    describe_rows(run, (uint32_t)options->outputs);
    struct recorder_options wanted =
        recording_for_recorder(recording, ring_rows, real_fast ? 0 : options->conditions.budget_obtained_ns, !real_fast);
    wanted.thread_of = thread_of;
    wanted.context = options;
    int code = recorder_open(run->recorder, &wanted, &run->schema, (uint32_t)options->instances);
    if (code != EXIT_MEASURED) {
        return code;
    }
    if (!run->counts_events) {
        recorder_add_absence(run->recorder, "cycles", why);
        recorder_add_absence(run->recorder, "instructions", why);
    }
    make_instances(run);
    code = share(run);
    if (code == EXIT_MEASURED) {
        code = measure(run);
    }
    if (code != EXIT_MEASURED) {
        recorder_abandon(run->recorder);
        return code;
    }
    const struct step_run *const told = telling(run);
    write_event(telling(run));
    write_explained(run);
    code = recorder_close(run->recorder);
    return told->failure[0] == '\0' || code != EXIT_MEASURED ? code
                                                          : refuse((enum exit_code)EXIT_OF_CODE, "%s", told->failure);
}

/* What sees calls is in another program, so that there is nothing of it here. */
static int become_explainer(char **argv)
{
    const enum os_status status = os_process_become("TAUTO_STEP", "tauto-step-explain", argv);
    return status == OS_NOT_FOUND
               ? refuse(EXIT_USAGE, "--explain: tauto-step-explain is not beside tauto-step.\n"
                                    "It is built for glibc, without sanitizers: install tautochrone on this machine.")
               : refuse(EXIT_FAILED, "tauto-step-explain can't be started: %s.", os_status_text(status));
}

static int measure_and_explain(struct step_run *run)
{
    void *memory = NULL;
    if (run->options->explain && os_memory_allocate(&memory, sizeof(struct explained)) != OS_OK) {
        return refuse(EXIT_FAILED, "no memory for what the steps call.");
    }
    run->explained = memory;
    const int code = open_and_measure(run);
    if (memory != NULL) {
        os_memory_free(memory, sizeof(struct explained));
    }
    return code;
}

int experiment_step(int argc, char **argv)
{
    struct step_options options;
    int code = EXIT_MEASURED;
    if (!step_options_read(&options, argc, argv, &code)) {
        return code;
    }
    if (options.explain && step_explainer() == NULL) {
        return become_explainer(argv - 2);
    }
    code = conditions_prepare(&options.conditions);
    if (code != EXIT_MEASURED) {
        return code;
    }
    void *memory = NULL;
    const size_t bytes = (size_t)options.instances * sizeof(struct step_run);
    if (os_memory_allocate(&memory, bytes) != OS_OK) {
        return refuse(EXIT_FAILED, "no memory for the experiment.");
    }
    struct step_run *const run = memory; /* whole pages: they are shared later */
    run->options = &options;
    run->recorder = &run->own_recorder;
    run->kind = step_kind_of(options.code);
    const char *const slash = strrchr(options.code, '/');
    run->name = slash != NULL ? slash + 1 : options.code;
    run->step = -1;
    code = measure_and_explain(run);
    os_memory_free(memory, bytes);
    return code;
}
