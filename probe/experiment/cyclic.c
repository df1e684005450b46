/*
 * Scheduling latency, as delgado2020 Algorithm 1 and every cyclic test has it: a thread sleeps until an absolute
 * release and reads the clock. Two instants are recorded for each release k: start + k * period, and the first
 * time stamp of the woken thread. Between them lies the system's work alone: no call, no branch of ours.
 */
#include "experiment/cyclic_options.h"
#include "experiment/experiment.h"

#include "message.h"
#include "format.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NS_PER_MS = 1000000, START_DELAY_MS = 20, START_WAIT_S = 10 };
static const int64_t ns_per_s = 1000000000;

/* A spinning real-time thread lets everybody else on its CPU run for this long in every second. */
enum { REST_MS = 4, SPIN_BETWEEN_RESTS_MS = 996 };

static const struct column columns[] = {
    {"scheduled_ns", "programmed release, start + k * period"},
    {"wake_ns", "first time stamp taken by the woken thread"},
};
static const struct schema cyclic_schema = {
    .columns = columns,
    .column_count = 2,
    .from = 0,
    .to = 1,
    .measure = "latency_ns",
    .measure_meaning = "scheduling latency",
};

struct worker {
    const struct cyclic_options *options;
    struct recorder *recorder;
    struct source *source;
    struct os_semaphore *ready; /* posted when `obtained` is filled in */
    struct os_semaphore *go;
    int32_t cpu;
    int64_t first_release_ns; /* of the warm-up; set before `go` */
    struct os_thread_obtained obtained;
};

/* Where the loop stands. Releases are numbered from -warmup; those below 0 are not recorded. */
struct position {
    int64_t release;
    int64_t scheduled_ns;
    int64_t rest_at_ns; /* INT64_MAX where no rest is due */
};

/* Returns the first time stamp at or after the release; earlier only when the run is to stop. */
static int64_t wait_for_release(const struct worker *worker, int64_t scheduled_ns)
{
    int64_t now;
    if (worker->options->wait == WAIT_SPIN) {
        do {
            now = os_now_ns();
        } while (now < scheduled_ns && !recorder_stopping(worker->recorder));
        return now;
    }
    do {
        now = os_sleep_until_and_read(scheduled_ns);
    } while (now < scheduled_ns && !recorder_stopping(worker->recorder));
    return now;
}

static void record(struct source *source, int64_t scheduled_ns, int64_t wake_ns)
{
    int64_t *const row = ring_slot(&source->ring);
    if (row != NULL) {
        row[0] = scheduled_ns;
        row[1] = wake_ns;
        ring_commit(&source->ring);
    }
    source->counters.completed++;
}

/* Go on to the first release after `now_ns`; those passed over are missed. Returns how many. */
static uint64_t skip_to_future(const struct worker *worker, struct position *position, int64_t now_ns)
{
    const struct cyclic_options *const options = worker->options;
    const int64_t behind = (now_ns - position->scheduled_ns) / options->period_ns + 1;
    const int64_t left = options->count - position->release;
    const int64_t passed = behind < left ? behind : left;
    const int64_t warming = position->release < 0 ? -position->release : 0;
    const uint64_t missed = passed > warming ? (uint64_t)(passed - warming) : 0;

    position->release += passed;
    position->scheduled_ns += passed * options->period_ns;
    if (missed != 0) {
        _Atomic uint64_t *const total = &worker->source->counters.missed;
        atomic_store_explicit(total, atomic_load_explicit(total, memory_order_relaxed) + missed,
                              memory_order_relaxed);
    }
    return missed;
}

static void rest(struct worker *worker, struct position *position)
{
    os_sleep_until(os_now_ns() + (int64_t)REST_MS * NS_PER_MS);
    const int64_t now_ns = os_now_ns();
    if (now_ns >= position->scheduled_ns && position->release < worker->options->count) {
        worker->source->counters.rested += skip_to_future(worker, position, now_ns);
    }
    position->rest_at_ns = now_ns + (int64_t)SPIN_BETWEEN_RESTS_MS * NS_PER_MS;
}

/* What follows a release that was served at `wake_ns`. False when the run is to end here. */
static bool advance(struct worker *worker, struct position *position, int64_t wake_ns)
{
    const struct cyclic_options *const options = worker->options;
    position->release++;
    position->scheduled_ns += options->period_ns;
    if (wake_ns < position->scheduled_ns) {
        return true;
    }
    if (position->release > 0) {
        worker->source->counters.overruns++;
    }
    if (options->overrun == OVERRUN_REPLAY) {
        return true;
    }
    skip_to_future(worker, position, wake_ns);
    if (options->overrun == OVERRUN_STOP && position->release > 0) {
        atomic_store(&worker->recorder->overrun_stop, true);
        atomic_store(&worker->recorder->stop, true);
        return false;
    }
    return true;
}

static void serve_releases(struct worker *worker)
{
    const struct cyclic_options *const options = worker->options;
    const bool must_rest =
        options->wait == WAIT_SPIN && (options->policy == OS_POLICY_FIFO || options->policy == OS_POLICY_RR);
    struct position position = {
        .release = -options->warmup,
        .scheduled_ns = worker->first_release_ns,
        .rest_at_ns = must_rest ? worker->first_release_ns + (int64_t)SPIN_BETWEEN_RESTS_MS * NS_PER_MS : INT64_MAX,
    };
    while (position.release < options->count && !recorder_stopping(worker->recorder)) {
        const int64_t wake_ns = wait_for_release(worker, position.scheduled_ns);
        if (wake_ns < position.scheduled_ns) {
            break; /* stopped before this release came: it does not count */
        }
        if (position.release >= 0) {
            record(worker->source, position.scheduled_ns, wake_ns);
        } else {
            worker->source->counters.warmup++;
        }
        if (!advance(worker, &position, wake_ns)) {
            break;
        }
        if (wake_ns >= position.rest_at_ns) {
            rest(worker, &position);
        }
    }
    worker->source->counters.released = position.release > 0 ? (uint64_t)position.release : 0;
}

static void work(void *argument)
{
    struct worker *const worker = argument;
    os_thread_read_back(&worker->obtained);
    os_semaphore_post(worker->ready);
    os_semaphore_wait(worker->go);
    const int64_t cpu_time_before_ns = os_thread_cpu_time_ns();
    serve_releases(worker);
    worker->source->counters.cpu_time_ns = os_thread_cpu_time_ns() - cpu_time_before_ns;
    atomic_store_explicit(&worker->source->finished, true, memory_order_release);
}

static int refuse_thread(const struct cyclic_options *options, enum os_status status)
{
    const char *const policy = os_policy_name((enum os_policy)options->policy);
    switch (status) {
    case OS_NOT_PERMITTED:
        return refuse(EXIT_NOT_PERMITTED, "policy %s with priority %" PRId64 " is not permitted to this user. %s", policy,
                      options->priority, os_advice_for_policy());
    case OS_INVALID:
        return refuse(EXIT_USAGE,
                      "the system does not take policy %s with these values%s. Lengthen the period or use another policy.",
                      policy,
                      options->policy == OS_POLICY_DEADLINE
                          ? " (Linux wants a period of at least sched_deadline_period_min_us, 100 us as it comes)"
                          : "");
    default:
        return refuse(EXIT_FAILED, "a measuring thread can't be started: %s.", os_status_text(status));
    }
}

static void attributes_to_json(struct json *json, const char *key, const struct worker *worker)
{
    const struct cyclic_options *const options = worker->options;
    json_open_object(json, key);
    json_text(json, "policy", os_policy_name((enum os_policy)options->policy));
    json_integer(json, "priority", options->priority);
    if (worker->cpu == OS_CPU_ANY) {
        json_null(json, "cpu");
    } else {
        json_integer(json, "cpu", worker->cpu);
    }
    if (options->policy == OS_POLICY_DEADLINE) {
        json_integer(json, "runtime_ns", options->runtime_ns);
        json_integer(json, "deadline_ns", options->period_ns);
        json_integer(json, "period_ns", options->period_ns);
    }
    json_close_object(json);
}

static void obtained_to_json(struct json *json, const char *key, const struct worker *worker)
{
    const struct os_thread_obtained *const obtained = &worker->obtained;
    json_open_object(json, key);
    json_text(json, "policy", os_policy_name(obtained->policy));
    json_integer_or_null(json, "priority", obtained->native_priority);
    json_integer_or_null(json, "cpu", obtained->cpu == OS_CPU_ANY ? INT64_MIN : obtained->cpu);
    if (worker->options->policy == OS_POLICY_DEADLINE) {
        json_integer_or_null(json, "runtime_ns", obtained->runtime_ns);
        json_integer_or_null(json, "deadline_ns", obtained->deadline_ns);
        json_integer_or_null(json, "period_ns", obtained->period_ns);
    }
    json_integer_or_null(json, "timer_slack_ns", obtained->timer_slack_ns);
    json_close_object(json);
}

static void process_to_json(struct json *json, const struct cyclic_options *options)
{
    int64_t runtime_ns = 0;
    int64_t period_ns = 0;
    const bool limited = os_realtime_share(&runtime_ns, &period_ns) == OS_OK;
    json_open_object(json, "process");
    json_open_object(json, "requested");
    json_boolean(json, "memory_locked", !options->recording.no_memory_lock);
    json_integer_or_null(json, "wake_latency_limit_us",
                         options->wake_latency_limit_us < 0 ? INT64_MIN : options->wake_latency_limit_us);
    json_close_object(json);
    json_open_object(json, "obtained");
    json_boolean(json, "memory_locked", !options->recording.no_memory_lock);
    json_integer_or_null(json, "wake_latency_limit_us", os_wake_latency_limit_in_force_us());
    json_integer_or_null(json, "rt_runtime_ns", limited ? runtime_ns : INT64_MIN);
    json_integer_or_null(json, "rt_period_ns", limited ? period_ns : INT64_MIN);
    json_close_object(json);
    json_close_object(json);
}

static int write_header(struct recorder *recorder, const struct cyclic_options *options,
                         const struct worker *workers)
{
    struct json json;
    recorder_header_begin(recorder, &json, "cyclic");
    cyclic_options_to_json(&json, options, (int64_t)recorder->options.ring_rows);
    json_open_array(&json, "sources");
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        json_open_object(&json, NULL);
        json_integer(&json, "source", i);
        json_text(&json, "name", recorder->sources[i].name);
        json_integer(&json, "start_ns", workers[i].first_release_ns + options->warmup * options->period_ns);
        attributes_to_json(&json, "requested", &workers[i]);
        obtained_to_json(&json, "obtained", &workers[i]);
        json_close_object(&json);
    }
    json_close_array(&json);
    process_to_json(&json, options);
    return recorder_header_end(recorder, &json);
}

static void warn_of_throttling(const struct cyclic_options *options)
{
    int64_t runtime_ns = 0;
    int64_t period_ns = 0;
    const bool real_time = options->policy == OS_POLICY_FIFO || options->policy == OS_POLICY_RR;
    if (real_time && options->wait == WAIT_SPIN && os_realtime_share(&runtime_ns, &period_ns) == OS_OK &&
        runtime_ns >= 0 && runtime_ns < period_ns) {
        warn("real-time threads may run %" PRId64 " ms in every %" PRId64 " ms here (sched_rt_runtime_us): a spinning "
             "thread can be stopped for the rest, which shows as latency and missed releases.",
             runtime_ns / NS_PER_MS, period_ns / NS_PER_MS);
    }
}

/* Everything that asks the system for something, before any memory is laid out. Returns an exit code. */
static int prepare_process(const struct cyclic_options *options)
{
    enum os_status status = os_stop_listen();
    if (status == OS_OK) {
        status = os_watchdog_start(options->budget_ns);
    }
    if (status != OS_OK) {
        return refuse(EXIT_FAILED, "the watchdog can't be started: %s.", os_status_text(status));
    }
    if (options->wake_latency_limit_us >= 0) {
        status = os_wake_latency_limit((int32_t)options->wake_latency_limit_us);
        if (status != OS_OK) {
            return refuse(status == OS_NOT_PERMITTED ? EXIT_NOT_PERMITTED : EXIT_FAILED,
                          "--wake-latency-us can't be held: %s. It needs write access to /dev/cpu_dma_latency. Leave it "
                          "out to measure the machine as it is.",
                          os_status_text(status));
        }
    }
    warn_of_throttling(options);
    return recording_lock_memory(&options->recording);
}

/* Starts one thread after the other; each waits for `go` with its attributes read back. Returns an exit code. */
static int start_workers(struct recorder *recorder, const struct cyclic_options *options, struct worker *workers,
                         struct os_semaphore *ready, struct os_semaphore *go)
{
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        struct worker *const worker = &workers[i];
        struct source *const source = &recorder->sources[i];
        const int32_t cpu = options->cpus.cpus[i];
        *worker = (struct worker){
            .options = options, .recorder = recorder, .source = source, .ready = ready, .go = go, .cpu = cpu};
        if (cpu == OS_CPU_ANY) {
            format_text(source->name, sizeof source->name, "any cpu");
        } else {
            format_text(source->name, sizeof source->name, "cpu%" PRId32, cpu);
        }
        const struct os_thread_attributes attributes = {
            .name = "tauto-cyclic",
            .policy = (enum os_policy)options->policy,
            .below_highest = options->below_highest,
            .cpu = cpu,
            .runtime_ns = options->runtime_ns,
            .deadline_ns = options->period_ns,
            .period_ns = options->period_ns,
        };
        const enum os_status status = os_thread_create(&source->thread, &attributes, work, worker);
        if (status != OS_OK) {
            return refuse_thread(options, status);
        }
        if (os_semaphore_wait_for(ready, START_WAIT_S * ns_per_s) != OS_OK) {
            return refuse(EXIT_FAILED, "the measuring thread on %s did not come up within %d s: that CPU is kept busy by "
                                       "threads of higher priority.",
                          source->name, START_WAIT_S);
        }
    }
    const int64_t start_ns = os_now_ns() + (int64_t)START_DELAY_MS * NS_PER_MS;
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        workers[i].first_release_ns = start_ns + (int64_t)i * options->stagger_ns;
    }
    return EXIT_MEASURED;
}

static int measure(struct recorder *recorder, const struct cyclic_options *options, struct worker *workers)
{
    struct os_semaphore *ready = NULL;
    struct os_semaphore *go = NULL;
    if (os_semaphore_create(&ready, 0) != OS_OK || os_semaphore_create(&go, 0) != OS_OK) {
        return refuse(EXIT_FAILED, "semaphores can't be made here.");
    }
    int code = start_workers(recorder, options, workers, ready, go);
    if (code == EXIT_MEASURED) {
        code = write_header(recorder, options, workers);
    }
    if (code != EXIT_MEASURED) {
        atomic_store(&recorder->stop, true); /* those that wait leave at once */
    }
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        if (recorder->sources[i].thread == NULL) {
            atomic_store(&recorder->sources[i].finished, true);
        } else {
            os_semaphore_post(go);
        }
    }
    recorder_run(recorder);
    os_semaphore_destroy(ready);
    os_semaphore_destroy(go);
    return code;
}

int experiment_cyclic(int argc, char **argv)
{
    struct cyclic_options options;
    int code = EXIT_MEASURED;
    if (!cyclic_options_read(&options, argc, argv, &code)) {
        return code;
    }
    code = prepare_process(&options);
    if (code != EXIT_MEASURED) {
        return code;
    }
    const int64_t ring_rows = recording_ring_rows(&options.recording, options.count);
    if (ring_rows < 0) {
        return EXIT_USAGE;
    }
    struct recorder recorder;
    const struct recorder_options recorder_options = recording_for_recorder(&options.recording, ring_rows, true);
    code = recorder_open(&recorder, &recorder_options, &cyclic_schema, options.cpus.count);
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct worker *const workers = calloc(options.cpus.count, sizeof *workers);
    if (workers == NULL) {
        return refuse(EXIT_FAILED, "no memory for the measuring threads.");
    }
    code = cyclic_options_check_clock(&options, &recorder.clock_before);
    if (code == EXIT_MEASURED) {
        code = measure(&recorder, &options, workers);
    }
    if (code == EXIT_MEASURED) {
        code = recorder_close(&recorder);
    } else {
        recorder_abandon(&recorder);
    }
    free(workers);
    return code;
}
