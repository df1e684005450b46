/*
 * Scheduling latency, as delgado2020 Algorithm 1 and every cyclic test has it: a thread sleeps until an absolute
 * release and reads the clock. Two instants are recorded for each release k: start + k * period, and the first
 * time stamp of the woken thread. Between them lies the system's work alone: no call, no branch of ours.
 */
#include "experiment/cyclic_options.h"
#include "experiment/experiment.h"
#include "experiment/hybrid.h"
#include "experiment/priority.h"
#include "experiment/schedule.h"

#include "message.h"
#include "format.h"
#include "os/programmed.h"
#include "os/timer.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NS_PER_MS = 1000000, START_DELAY_MS = 20, START_WAIT_S = 10 };
static const int64_t ns_per_s = 1000000000;

/* A spinning real-time thread lets everybody else on its CPU run for 4 ms in every second, and does not spin towards
 * a release that is far away. */
enum { REST_MS = 4, LONGEST_SPIN_MS = 996, FAR_AWAY_MS = 2, SPIN_BEFORE_FAR_MS = 1 };

static const struct column columns[] = {
    {"scheduled_ns", "programmed release, start + k * period", NULL},
    {"wake_ns", "first time stamp taken by the woken thread", NULL},
    {"programmed_ns", "when the timer was due at the latest", NULL},
};
static const struct measure latency = {"latency_ns", "scheduling latency", 0, 1};
/* Where timers count from now, both instants are recorded: that asked for and that programmed, in the last column. */
enum { PROGRAMMED = 2 };

struct worker {
    const struct cyclic_options *options;
    struct recorder *recorder;
    struct source *source;
    struct os_notice *ready;    /* posted when `obtained` is filled in */
    struct os_semaphore *go;
    int32_t cpu;
    int64_t first_release_ns; /* of the warm-up; set before `go` */
    bool is_relative;         /* so are the timers, and the rows have what was programmed */
    struct os_timer *timer;   /* of WAIT_TIMER only */
    struct hybrid hybrid;     /* of WAIT_HYBRID only */
    struct os_thread_obtained obtained;
    int64_t budget_overruns; /* policy deadline only; INT64_MIN: not told */
};

/* Where the loop stands. */
struct position {
    struct schedule schedule;
    int64_t rest_at_ns; /* INT64_MAX where no rest is due */
};

/* After `now_ns`, when the thread has just slept; well before the watchdog's budget is used up. */
static void plan_rest(const struct worker *worker, struct position *position, int64_t now_ns)
{
    const struct cyclic_options *const options = worker->options;
    const bool spins = options->wait == WAIT_SPIN || (options->wait == WAIT_HYBRID && worker->hybrid.settled);
    if (spins && (options->policy == OS_POLICY_FIFO || options->policy == OS_POLICY_RR)) {
        const int64_t longest_ns = (int64_t)LONGEST_SPIN_MS * NS_PER_MS;
        const int64_t half_budget_ns = options->conditions.budget_obtained_ns / 2;
        position->rest_at_ns = now_ns + (longest_ns < half_budget_ns ? longest_ns : half_budget_ns);
    }
}

/* How long before the release a sleep that begins now is to end; INT64_MIN: it is too near for one. */
static int64_t margin_now(const struct worker *worker, const struct schedule *schedule)
{
    const int64_t left_ns = schedule->scheduled_ns - os_now_ns();
    if (worker->options->wait == WAIT_HYBRID && hybrid_has_time(&worker->hybrid, left_ns)) {
        return worker->hybrid.margin_ns;
    }
    return left_ns > (int64_t)FAR_AWAY_MS * NS_PER_MS ? (int64_t)SPIN_BEFORE_FAR_MS * NS_PER_MS : INT64_MIN;
}

/* Does the next release end a sleep? In the warm-up of a hybrid wait, too, but for its last tenth. */
static bool only_sleeps(struct worker *worker, struct position *position)
{
    const struct cyclic_options *const options = worker->options;
    if (options->wait == WAIT_HYBRID && !worker->hybrid.settled &&
        position->schedule.release >= -(options->warmup / HYBRID_FEWEST_WAKE_UPS)) {
        hybrid_settle(&worker->hybrid);
        plan_rest(worker, position, os_now_ns());
    }
    return options->wait == WAIT_SLEEP || (options->wait == WAIT_HYBRID && !worker->hybrid.settled);
}

/* A release that is past is not waited for. The timer may have fired for releases that were passed over: then it is waited
 * for again. */
static int64_t wait_for_timer(const struct worker *worker, const struct schedule *schedule)
{
    int64_t now_ns = os_now_ns();
    while (now_ns < schedule->scheduled_ns && !recorder_stopping(worker->recorder)) {
        now_ns = os_timer_wait_and_read(worker->timer);
    }
    return now_ns;
}

/* Returns the first time stamp at or after the release; earlier only when the run is to stop. */
static int64_t wait_for_release(struct worker *worker, struct position *position)
{
    if (worker->timer != NULL) {
        return wait_for_timer(worker, &position->schedule);
    }
    if (only_sleeps(worker, position)) {
        return schedule_wait(&position->schedule, worker->recorder);
    }
    const int64_t scheduled_ns = position->schedule.scheduled_ns;
    const int64_t margin_ns = margin_now(worker, &position->schedule);
    int64_t now_ns;
    if (margin_ns != INT64_MIN) {
        now_ns = os_sleep_until_and_read(scheduled_ns - margin_ns);
        plan_rest(worker, position, now_ns);
        if (now_ns >= scheduled_ns) {
            return now_ns;
        }
    }
    do {
        now_ns = os_now_ns();
    } while (now_ns < scheduled_ns && !recorder_stopping(worker->recorder));
    return now_ns;
}

static void record(const struct worker *worker, int64_t scheduled_ns, int64_t wake_ns)
{
    struct source *const source = worker->source;
    int64_t *const row = ring_slot(&source->ring);
    if (row != NULL) {
        row[0] = scheduled_ns;
        row[1] = wake_ns;
        if (worker->is_relative) {
            row[PROGRAMMED] = os_sleep_programmed_ns();
        }
        ring_commit(&source->ring);
    }
    source->counters.completed++;
}

static void rest(struct worker *worker, struct position *position)
{
    struct schedule *const schedule = &position->schedule;
    const int64_t now_ns = os_sleep_until_and_read(os_now_ns() + (int64_t)REST_MS * NS_PER_MS);
    if (now_ns >= schedule->scheduled_ns && schedule->release < schedule->count) {
        worker->source->counters.rested += schedule_pass_over(schedule, worker->source, now_ns);
    }
    plan_rest(worker, position, now_ns);
}

static void warm_up(struct worker *worker, const struct schedule *schedule, int64_t wake_ns)
{
    worker->source->counters.warmup++;
    if (worker->options->wait == WAIT_HYBRID && !worker->hybrid.settled) {
        hybrid_learn(&worker->hybrid, wake_ns - schedule->scheduled_ns);
    }
}

static void serve_releases(struct worker *worker)
{
    const struct cyclic_options *const options = worker->options;
    struct position position = {
        .schedule =
            schedule_from(worker->first_release_ns, options->period_ns, options->count, options->warmup),
        .rest_at_ns = INT64_MAX,
    };
    struct schedule *const schedule = &position.schedule;
    plan_rest(worker, &position, os_now_ns());
    while (schedule_goes_on(schedule, worker->recorder)) {
        const int64_t wake_ns = wait_for_release(worker, &position);
        if (wake_ns < schedule->scheduled_ns) {
            break; /* stopped before this release came: it does not count */
        }
        if (schedule->release >= 0) {
            record(worker, schedule->scheduled_ns, wake_ns);
        } else {
            warm_up(worker, schedule, wake_ns);
        }
        if (!schedule_follow(schedule, worker->source, worker->recorder, (enum overrun)options->overrun, wake_ns)) {
            break;
        }
        if (wake_ns >= position.rest_at_ns) {
            rest(worker, &position);
        }
    }
    schedule_close(schedule, worker->source);
}

static void work(void *argument)
{
    struct worker *const worker = argument;
    os_thread_read_back(&worker->obtained);
    if (worker->options->wait == WAIT_HYBRID) {
        hybrid_begin(&worker->hybrid, worker->options->period_ns);
    }
    os_notice_post(worker->ready);
    os_semaphore_wait(worker->go);
    const int64_t cpu_time_before_ns = source_join(worker->source);
    serve_releases(worker);
    worker->budget_overruns = os_thread_budget_overruns();
    worker->source->counters.cpu_time_ns = source_cpu_time_since(cpu_time_before_ns);
    source_finish(worker->source);
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

static struct os_thread_attributes thread_of(const void *context, uint32_t source)
{
    const struct cyclic_options *const options = context;
    return attributes_of(options, options->cpus.cpus[source]);
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
        recorder_source_to_json(recorder, &json, i);
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

static void own_books(struct json *json, uint32_t source, const void *given)
{
    const struct worker *const worker = &((const struct worker *)given)[source];
    const struct hybrid *const hybrid = &worker->hybrid;
    if (worker->options->policy == OS_POLICY_DEADLINE) {
        json_integer_or_null(json, "budget_overruns", worker->budget_overruns);
    }
    if (hybrid->settled) {
        hybrid_to_json(json, hybrid);
    }
}

static void tell_of_waits(const struct recorder *recorder, const struct worker *workers)
{
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        if (workers[i].budget_overruns > 0) {
            warn("the budget of %s was used up at least %" PRId64 " times, and the thread was stopped until its next period: "
                 "that shows as latency and missed releases. Lengthen --runtime.",
                 recorder->sources[i].name, workers[i].budget_overruns);
        }
        const struct hybrid *const hybrid = &workers[i].hybrid;
        if (hybrid->settled && !hybrid->sleeps) {
            warn("--wait hybrid polled all the time on %s: to sleep takes up to %" PRId64 " ns to wake and %" PRId64
                 " ns to program the timer, more than three quarters of the period.",
                 recorder->sources[i].name, hybrid->margin_ns, hybrid->arming_ns);
        }
    }
}

/* Starts one thread after the other; each waits for `go` with its attributes read back. Returns an exit code. */
static int start_workers(struct recorder *recorder, const struct cyclic_options *options, struct worker *workers,
                         struct os_notice *ready, struct os_semaphore *go)
{
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        struct worker *const worker = &workers[i];
        struct source *const source = &recorder->sources[i];
        const int32_t cpu = options->cpus.cpus[i];
        *worker = (struct worker){
            .options = options, .recorder = recorder, .source = source, .ready = ready, .go = go, .cpu = cpu,
            .is_relative = recorder->schema->column_count > PROGRAMMED};
        if (cpu == OS_CPU_ANY) {
            format_text(source->name, sizeof source->name, "any cpu");
        } else {
            format_text(source->name, sizeof source->name, "cpu%" PRId32, cpu);
        }
        if (options->wait == WAIT_TIMER) {
            const struct os_answer made = os_timer_create(&worker->timer);
            if (made.availability != OS_PRESENT) {
                return refuse(EXIT_FAILED, "--wait timer: %s.", made.why);
            }
        }
        const struct os_thread_attributes attributes = attributes_of(options, cpu);
        const enum os_status status = os_thread_create(&source->thread, &attributes, work, worker);
        if (status != OS_OK) {
            return priority_refuse_thread((enum os_policy)options->policy, options->priority, status);
        }
        if (os_notice_wait_for(ready, START_WAIT_S * ns_per_s) != OS_OK) {
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
    struct os_notice *ready = NULL;
    struct os_semaphore *go = NULL;
    if (os_notice_create(&ready) != OS_OK || os_semaphore_create(&go, 0) != OS_OK) {
        os_notice_destroy(ready);
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
    for (uint32_t i = 0; i < recorder->source_count && code == EXIT_MEASURED && options->wait == WAIT_TIMER; i++) {
        const enum os_status status = os_timer_start(workers[i].timer, workers[i].first_release_ns, options->period_ns);
        code = status == OS_OK ? code : refuse(EXIT_FAILED, "--wait timer: %s.", os_status_text(status));
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
    if (code == EXIT_MEASURED) {
        tell_of_waits(recorder, workers);
    }
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        os_timer_destroy(workers[i].timer);
    }
    os_notice_destroy(ready);
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
    const int64_t ring_rows = recording_ring_rows(&options.conditions.recording, options.count, options.period_ns);
    if (ring_rows < 0) {
        return EXIT_USAGE;
    }
    struct recorder recorder;
    struct recorder_options recorder_options =
        recording_for_recorder(&options.conditions.recording, ring_rows, options.conditions.budget_obtained_ns, true);
    recorder_options.thread_of = thread_of;
    recorder_options.context = &options;
    const bool is_absolute = os_service_available(OS_SERVICE_ABSOLUTE_SLEEP).availability == OS_PRESENT;
    const struct schema schema = {
        .columns = columns,
        .column_count = is_absolute ? PROGRAMMED : PROGRAMMED + 1,
        .measures = &latency,
        .measure_count = 1,
        .may_lack = is_absolute ? 0 : 1U << PROGRAMMED,
    };
    code = recorder_open(&recorder, &recorder_options, &schema, options.cpus.count);
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct worker *const workers = calloc(options.cpus.count, sizeof *workers);
    if (workers == NULL) {
        recorder_abandon(&recorder);
        return refuse(EXIT_FAILED, "no memory for the measuring threads.");
    }
    recorder.own_books = own_books;
    recorder.own_given = workers;
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
