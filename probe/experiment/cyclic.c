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

/* A spinning real-time thread lets everybody else on its CPU run for 4 ms in every second, and does not spin towards
 * a release that is far away. */
enum { REST_MS = 4, LONGEST_SPIN_MS = 996, FAR_AWAY_MS = 2, SPIN_BEFORE_FAR_MS = 1 };

/* With so short a period a thread takes nearly all of its CPU, also when it sleeps. */
enum { PERIOD_WITHOUT_SLACK_NS = 20000 };

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

/* After `now_ns`, when the thread has just slept; well before the watchdog's budget is used up. */
static void plan_rest(const struct worker *worker, struct position *position, int64_t now_ns)
{
    const struct cyclic_options *const options = worker->options;
    if (options->wait == WAIT_SPIN && (options->policy == OS_POLICY_FIFO || options->policy == OS_POLICY_RR)) {
        const int64_t longest_ns = (int64_t)LONGEST_SPIN_MS * NS_PER_MS;
        const int64_t half_budget_ns = options->conditions.budget_obtained_ns / 2;
        position->rest_at_ns = now_ns + (longest_ns < half_budget_ns ? longest_ns : half_budget_ns);
    }
}

/* Returns the first time stamp at or after the release; earlier only when the run is to stop. */
static int64_t wait_for_release(const struct worker *worker, struct position *position)
{
    const int64_t scheduled_ns = position->scheduled_ns;
    int64_t now;
    if (worker->options->wait == WAIT_SPIN) {
        if (scheduled_ns - os_now_ns() > (int64_t)FAR_AWAY_MS * NS_PER_MS) {
            now = os_sleep_until_and_read(scheduled_ns - (int64_t)SPIN_BEFORE_FAR_MS * NS_PER_MS);
            plan_rest(worker, position, now);
        }
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
    plan_rest(worker, position, now_ns);
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
    const bool was_recorded = position->release > 0; /* no warm-up */
    if (was_recorded) {
        worker->source->counters.overruns++;
    }
    if (options->overrun == OVERRUN_REPLAY) {
        return true;
    }
    skip_to_future(worker, position, wake_ns);
    if (options->overrun == OVERRUN_STOP && was_recorded) {
        atomic_store(&worker->recorder->overrun_stop, true);
        atomic_store(&worker->recorder->stop, true);
        return false;
    }
    return true;
}

static void serve_releases(struct worker *worker)
{
    const struct cyclic_options *const options = worker->options;
    struct position position = {
        .release = -options->warmup,
        .scheduled_ns = worker->first_release_ns,
        .rest_at_ns = INT64_MAX,
    };
    plan_rest(worker, &position, os_now_ns());
    while (position.release < options->count && !recorder_stopping(worker->recorder)) {
        const int64_t wake_ns = wait_for_release(worker, &position);
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
    const int64_t end_ns = os_now_ns();
    if (position.release < options->count && end_ns >= position.scheduled_ns) {
        skip_to_future(worker, &position, end_ns); /* a backlog that nobody will serve any more is missed */
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

static struct os_thread_attributes attributes_of(const struct cyclic_options *options, int32_t cpu)
{
    return (struct os_thread_attributes){
        .name = "tauto-cyclic",
        .policy = (enum os_policy)options->policy,
        .below_highest = options->below_highest,
        .cpu = cpu,
        .runtime_ns = options->runtime_ns,
        .deadline_ns = options->period_ns,
        .period_ns = options->period_ns,
    };
}

static int refuse_thread(const struct cyclic_options *options, enum os_status status)
{
    const char *const policy = os_policy_name((enum os_policy)options->policy);
    switch (status) {
    case OS_NOT_PERMITTED:
        if (options->policy == OS_POLICY_DEADLINE) {
            return refuse(EXIT_NOT_PERMITTED,
                          "policy deadline is not permitted: either to this user, or because the process is kept to some "
                          "of the CPUs (taskset); a deadline thread must be free to run on all of its cpuset. %s",
                          os_advice_for_policy());
        }
        return refuse(EXIT_NOT_PERMITTED, "policy %s with priority %" PRId64 " is not permitted to this user. %s", policy,
                      options->priority, os_advice_for_policy());
    case OS_INVALID:
        if (options->policy == OS_POLICY_DEADLINE) {
            return refuse(EXIT_USAGE, "the system does not take policy deadline with this period and runtime. Linux wants "
                                      "a runtime of 1024 ns or more and a period between sched_deadline_period_min_us "
                                      "(100 us as it comes) and sched_deadline_period_max_us.");
        }
        return refuse(EXIT_USAGE, "the system does not take policy %s with priority %" PRId64 " on these CPUs. Choose others.",
                      policy, options->priority);
    case OS_BUSY:
        return refuse(EXIT_FAILED, "there is not enough time left for this deadline thread: others have been promised it. "
                                   "Lengthen the period, or shorten --runtime.");
    case OS_TIMED_OUT:
        return refuse(EXIT_FAILED, "a measuring thread did not come to run: its CPU is kept busy by threads of higher "
                                   "priority.");
    default:
        return refuse(EXIT_FAILED, "a measuring thread can't be started: %s.", os_status_text(status));
    }
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
        const struct os_thread_attributes attributes = attributes_of(options, workers[i].cpu);
        requested_to_json(&json, &attributes);
        obtained_to_json(&json, attributes.policy, &workers[i].obtained);
        json_close_object(&json);
    }
    json_close_array(&json);
    conditions_to_json(&json, &options->conditions);
    return recorder_header_end(recorder, &json);
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
        const struct os_thread_attributes attributes = attributes_of(options, cpu);
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
    return EXIT_MEASURED;
}

/* Last before the start: from here on only memory is written until the threads are let go. */
static void choose_start(const struct recorder *recorder, const struct cyclic_options *options, struct worker *workers)
{
    const int64_t start_ns = os_now_ns() + (int64_t)START_DELAY_MS * NS_PER_MS;
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        workers[i].first_release_ns = start_ns + (int64_t)i * options->stagger_ns;
    }
}

static int measure(struct recorder *recorder, const struct cyclic_options *options, struct worker *workers)
{
    struct os_semaphore *ready = NULL;
    struct os_semaphore *go = NULL;
    if (os_semaphore_create(&ready, 0) != OS_OK || os_semaphore_create(&go, 0) != OS_OK) {
        os_semaphore_destroy(ready);
        return refuse(EXIT_FAILED, "semaphores can't be made here.");
    }
    int code = start_workers(recorder, options, workers, ready, go);
    if (code == EXIT_MEASURED) {
        code = recorder_open_output(recorder);
    }
    if (code == EXIT_MEASURED) {
        choose_start(recorder, options, workers);
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

static void warn_if_throttled(const struct cyclic_options *options)
{
    const bool real_time = options->policy == OS_POLICY_FIFO || options->policy == OS_POLICY_RR;
    if (real_time && (options->wait == WAIT_SPIN || options->period_ns <= PERIOD_WITHOUT_SLACK_NS)) {
        conditions_warn_of_throttling();
    }
}

int experiment_cyclic(int argc, char **argv)
{
    struct cyclic_options options;
    int code = EXIT_MEASURED;
    if (!cyclic_options_read(&options, argc, argv, &code)) {
        return code;
    }
    warn_if_throttled(&options);
    code = conditions_prepare(&options.conditions);
    if (code != EXIT_MEASURED) {
        return code;
    }
    const int64_t ring_rows = recording_ring_rows(&options.conditions.recording, options.count);
    if (ring_rows < 0) {
        return EXIT_USAGE;
    }
    struct recorder recorder;
    const struct recorder_options recorder_options =
        recording_for_recorder(&options.conditions.recording, ring_rows, options.conditions.budget_obtained_ns, true);
    code = recorder_open(&recorder, &recorder_options, &cyclic_schema, options.cpus.count);
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct worker *const workers = calloc(options.cpus.count, sizeof *workers);
    if (workers == NULL) {
        recorder_abandon(&recorder);
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
