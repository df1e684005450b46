/*
 * A set of periodic tasks at once, as delgado2020 section V and Algorithm 2: each waits for its release, works for its
 * execution time and reads the clock before and after that. All are released together (the critical instant), at
 * start + offset + k * period.
 *
 * scheduled_ns -> end_ns is the response that schedulability analysis speaks of; scheduled_ns -> start_ns the
 * scheduling latency, with what more urgent tasks take first; start_ns -> end_ns what Algorithm 2 calls the response,
 * which leaves that latency out. Between start and end there is the work alone. The CPU time is read once a job, after
 * its end, so it covers the whole cycle: also the sleep and the wake-up, as the kernel charges them.
 */
#include "experiment/experiment.h"
#include "experiment/periods.h"
#include "experiment/schedule.h"
#include "experiment/taskset_calibration.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>
#include <string.h>

enum { NS_PER_MS = 1000000, START_DELAY_MS = 50, START_WAIT_S = 10 };
static const int64_t ns_per_s = 1000000000;

static const struct column columns[] = {
    {"scheduled_ns", "programmed release, start + offset + k * period", NULL},
    {"start_ns", "first time stamp taken by the woken task, before its work", NULL},
    {"end_ns", "time stamp after its work", NULL},
    {"executed_ns", "CPU time of the task since the one before, its sleep and wake-up included", NULL},
};
static const struct measure measures[] = {
    {"response_ns", "response time, release to end", 0, 2},
    {"latency_ns", "scheduling latency, release to start", 0, 1},
    {"run_ns", "run time, start to end with preemptions", 1, 2},
};
static const struct schema taskset_schema = {
    .columns = columns,
    .column_count = 4,
    .measures = measures,
    .measure_count = 3,
};

/* On cache lines of its own: tasks of other CPUs write theirs meanwhile. */
struct worker {
    _Alignas(CACHE_LINE_BYTES) const struct task *task;
    struct recorder *recorder;
    struct source *source;
    struct os_notice *ready; /* posted when `obtained` is filled in */
    struct os_semaphore *go;
    bool replay;
    struct work work;
    int64_t first_release_ns; /* of the warm-up; set before `go` */
    uint64_t late;            /* recorded jobs that ended after their deadline */
    struct os_thread_obtained obtained;
    char what[96];
};

struct taskset {
    const struct taskset_options *options;
    struct recorder recorder;
    struct worker workers[TASKS_LIMIT];
    struct calibrations calibrations;
    struct os_notice *ready;
    struct os_semaphore *go;
};

static void record(struct worker *worker, int64_t scheduled_ns, int64_t start_ns, int64_t end_ns, int64_t executed_ns)
{
    struct source *const source = worker->source;
    int64_t *const row = ring_slot(&source->ring);
    if (row != NULL) {
        row[0] = scheduled_ns;
        row[1] = start_ns;
        row[2] = end_ns;
        row[3] = executed_ns;
        ring_commit(&source->ring);
    }
    source->counters.completed++;
    worker->late += end_ns - scheduled_ns > worker->task->deadline_ns ? 1 : 0;
}

static void serve_releases(struct worker *worker)
{
    const struct task *const task = worker->task;
    struct schedule schedule = schedule_from(worker->first_release_ns, task->period_ns, task->count, task->warmup);
    int64_t cpu_time_ns = os_thread_cpu_time_ns();
    while (schedule_goes_on(&schedule, worker->recorder)) {
        const int64_t start_ns = schedule_wait(&schedule, worker->recorder);
        if (start_ns < schedule.scheduled_ns) {
            break; /* stopped before this release came: it does not count */
        }
        if (!work_do(&worker->work, worker->recorder)) {
            break; /* stopped in the middle of the job: it is missed */
        }
        const int64_t end_ns = os_now_ns();
        const int64_t cpu_time_before_ns = cpu_time_ns;
        cpu_time_ns = os_thread_cpu_time_ns();
        if (schedule.release >= 0) {
            record(worker, schedule.scheduled_ns, start_ns, end_ns, cpu_time_ns - cpu_time_before_ns);
        } else {
            worker->source->counters.warmup++;
        }
        if (!schedule_advance(&schedule, worker->source, end_ns) && !worker->replay) {
            schedule_pass_over(&schedule, worker->source, end_ns);
        }
    }
    schedule_close(&schedule, worker->source);
}

static void run_task(void *argument)
{
    struct worker *const worker = argument;
    os_thread_read_back(&worker->obtained);
    os_notice_post(worker->ready);
    os_semaphore_wait(worker->go);
    os_semaphore_post(worker->go); /* to the next: the thread that let us go may not get its CPU again for a while */
    const int64_t cpu_time_before_ns = source_join(worker->source);
    serve_releases(worker);
    worker->source->counters.cpu_time_ns = source_cpu_time_since(cpu_time_before_ns);
    source_finish(worker->source);
}

static int refuse_task(const struct taskset_options *options, const struct task *task, enum os_status status)
{
    const char *const policy = os_policy_name((enum os_policy)options->policy);
    const bool deadline = options->policy == OS_POLICY_DEADLINE;
    switch (status) {
    case OS_NOT_PERMITTED:
        if (deadline) {
            return refuse(EXIT_NOT_PERMITTED,
                          "policy deadline is not permitted: either to this user, or because the process is kept to "
                          "some of the CPUs (taskset); a deadline thread must be free to run on all of its cpuset.\n%s",
                          os_advice_for_policy());
        }
        return refuse(EXIT_NOT_PERMITTED,
                      "policy %s with priority %" PRId64 " (task '%s') is not permitted to this user.\n%s %s",
                      policy, task->priority, task->name, os_advice_for_policy(), advice_for_ordinary_policy);
    case OS_INVALID:
        if (deadline) {
            return refuse(EXIT_USAGE,
                          "task '%s': the system does not take its period, deadline and runtime.\nLinux wants a "
                          "runtime of 1024 ns or more and a period between sched_deadline_period_min_us (100 us as it "
                          "comes) and sched_deadline_period_max_us.",
                          task->name);
        }
        return refuse(EXIT_USAGE,
                      "task '%s': the system does not take policy %s with its priority on its CPU.\nChoose others.",
                      task->name, policy);
    case OS_BUSY:
        return refuse(EXIT_FAILED,
                      "task '%s': the system does not admit it: with the tasks before it, budgets would take more "
                      "than deadline threads are granted (as Linux comes, 95 %% of the CPUs, with what others have "
                      "been promised).\nLengthen periods, or shorten execution times or --runtime-margin.",
                      task->name);
    case OS_TIMED_OUT:
        return refuse(EXIT_FAILED, "task '%s' did not come to run: its CPU is kept busy by threads of higher priority.",
                      task->name);
    default:
        return refuse(EXIT_FAILED, "task '%s' can't be started: %s.", task->name, os_status_text(status));
    }
}

static void describe(char *text, size_t bytes, const struct task *task)
{
    char period[PERIOD_TEXT_BYTES];
    char execution[PERIOD_TEXT_BYTES];
    char deadline[PERIOD_TEXT_BYTES];
    period_to_text(period, task->period_ns);
    period_to_text(execution, task->execution_ns);
    period_to_text(deadline, task->deadline_ns);
    format_text(text, bytes, "every %s, %s of work, deadline %s", period, execution, deadline);
}

/* Starts one thread after the other; each waits for `go` with its attributes read back. */
static int start_workers(struct taskset *set)
{
    const struct taskset_options *const options = set->options;
    for (uint32_t i = 0; i < options->count; i++) {
        const struct task *const task = &options->tasks[i];
        struct source *const source = &set->recorder.sources[i];
        struct worker *const worker = &set->workers[i];
        *worker = (struct worker){
            .task = task,
            .recorder = &set->recorder,
            .source = source,
            .ready = set->ready,
            .go = set->go,
            .replay = options->overrun == TASKSET_REPLAY,
            .work = work_of((enum work_kind)options->work, task->execution_ns,
                            calibrations_cost(&set->calibrations, task->cpu)),
        };
        memcpy(source->name, task->name, sizeof task->name);
        describe(worker->what, sizeof worker->what, task);
        source->what = worker->what;
        const struct os_thread_attributes attributes = taskset_attributes(options, task);
        enum os_status status = os_thread_create(&source->thread, &attributes, run_task, worker);
        if (status == OS_OK) {
            status = os_notice_wait_for(set->ready, START_WAIT_S * ns_per_s);
        }
        if (status != OS_OK) {
            return refuse_task(options, task, status);
        }
    }
    return EXIT_MEASURED;
}

/* Last before the start. The warm-up lies on the same grid, so that the common start finds the set as it always is. */
static void choose_start(struct taskset *set)
{
    const struct taskset_options *const options = set->options;
    const int64_t start_ns = os_now_ns() + (int64_t)START_DELAY_MS * NS_PER_MS + options->warmup_ns;
    for (uint32_t i = 0; i < options->count; i++) {
        const struct task *const task = &options->tasks[i];
        set->workers[i].first_release_ns = start_ns + task->offset_ns - task->warmup * task->period_ns;
    }
}

static void source_to_json(struct json *json, const struct taskset *set, uint32_t index)
{
    const struct task *const task = &set->options->tasks[index];
    const struct worker *const worker = &set->workers[index];
    const struct os_thread_attributes attributes = taskset_attributes(set->options, task);
    json_open_object(json, NULL);
    recorder_source_to_json(&set->recorder, json, index);
    json_integer(json, "start_ns", worker->first_release_ns + task->warmup * task->period_ns);
    json_integer(json, "period_ns", task->period_ns);
    json_integer(json, "deadline_ns", task->deadline_ns);
    json_integer(json, "execution_ns", task->execution_ns);
    json_integer(json, "offset_ns", task->offset_ns);
    json_integer_or_null(json, "priority",
                         os_priority_levels(attributes.policy) != 0 ? task->priority : INT64_MIN);
    json_integer_or_null(json, "cpu", task->cpu == OS_CPU_ANY ? INT64_MIN : task->cpu);
    if (worker->work.kind == WORK_CALIBRATED) {
        json_unsigned(json, "work_steps", worker->work.steps);
    }
    requested_to_json(json, &attributes);
    obtained_to_json(json, attributes.policy, &worker->obtained);
    json_close_object(json);
}

static int write_header(struct taskset *set)
{
    struct json json;
    recorder_header_begin(&set->recorder, &json, "taskset");
    taskset_options_to_json(&json, set->options, (int64_t)set->recorder.options.ring_rows);
    calibrations_to_json(&json, &set->calibrations);
    json_open_array(&json, "sources");
    for (uint32_t i = 0; i < set->options->count; i++) {
        source_to_json(&json, set, i);
    }
    json_close_array(&json);
    conditions_to_json(&json, &set->options->conditions);
    return recorder_header_end(&set->recorder, &json);
}

static void let_go(struct taskset *set)
{
    for (uint32_t i = 0; i < set->recorder.source_count; i++) {
        if (set->recorder.sources[i].thread == NULL) {
            atomic_store(&set->recorder.sources[i].finished, true);
        }
    }
    os_semaphore_post(set->go); /* to the first; each passes it on */
    recorder_run(&set->recorder);
}

static int run(struct taskset *set)
{
    if (os_notice_create(&set->ready) != OS_OK || os_semaphore_create(&set->go, 0) != OS_OK) {
        os_notice_destroy(set->ready);
        return refuse(EXIT_FAILED, "semaphores can't be made here.");
    }
    const struct task *lender = NULL;
    const enum os_status status = calibrations_take(&set->calibrations, set->options, &lender);
    int code = status == OS_OK ? start_workers(set) : refuse_task(set->options, lender, status);
    if (code == EXIT_MEASURED) {
        code = recorder_open_output(&set->recorder);
    }
    if (code == EXIT_MEASURED) {
        choose_start(set);
        code = write_header(set);
    }
    if (code != EXIT_MEASURED) {
        atomic_store(&set->recorder.stop, true); /* those that wait leave at once */
    }
    let_go(set);
    if (code == EXIT_MEASURED) {
        calibrations_repeat(&set->calibrations, set->options, &set->recorder);
    }
    os_notice_destroy(set->ready);
    os_semaphore_destroy(set->go);
    return code;
}

/* What the recorder's table does not know. */
static void print_lateness(const struct taskset *set)
{
    for (uint32_t i = 0; i < set->options->count; i++) {
        const struct worker *const worker = &set->workers[i];
        print("%s: %" PRIu64 " of %" PRIu64 " jobs ended after their deadline\n", worker->task->name, worker->late,
              worker->source->counters.completed);
    }
    calibrations_print(&set->calibrations);
}

static struct os_thread_attributes thread_of(const void *context, uint32_t source)
{
    const struct taskset_options *const options = context;
    return taskset_attributes(options, &options->tasks[source]);
}

static int64_t shortest_period_ns(const struct taskset_options *options)
{
    int64_t shortest_ns = options->tasks[0].period_ns;
    for (uint32_t i = 1; i < options->count; i++) {
        shortest_ns = options->tasks[i].period_ns < shortest_ns ? options->tasks[i].period_ns : shortest_ns;
    }
    return shortest_ns;
}

static int measure(struct taskset *set, int64_t ring_rows)
{
    const struct conditions *const conditions = &set->options->conditions;
    struct recorder_options recorder_options =
        recording_for_recorder(&conditions->recording, ring_rows, conditions->budget_obtained_ns, true);
    recorder_options.thread_of = thread_of;
    recorder_options.context = set->options;
    int code = recorder_open(&set->recorder, &recorder_options, &taskset_schema, set->options->count);
    if (code != EXIT_MEASURED) {
        return code;
    }
    code = run(set);
    if (code != EXIT_MEASURED) {
        recorder_abandon(&set->recorder);
        return code;
    }
    if (recorder_options.out == NULL) {
        print_lateness(set);
    }
    return recorder_close(&set->recorder);
}

int experiment_taskset(int argc, char **argv)
{
    struct taskset_options options;
    int code = EXIT_MEASURED;
    if (!taskset_options_read(&options, argc, argv, &code)) {
        return code;
    }
    code = conditions_need_cpu_time();
    if (code == EXIT_MEASURED) {
        code = conditions_prepare(&options.conditions);
    }
    if (code != EXIT_MEASURED) {
        return code;
    }
    const int64_t ring_rows = recording_ring_rows(&options.conditions.recording, options.most_releases, shortest_period_ns(&options));
    if (ring_rows < 0) {
        return EXIT_USAGE;
    }
    void *memory = NULL;
    if (os_memory_allocate(&memory, sizeof(struct taskset)) != OS_OK) {
        return refuse(EXIT_FAILED, "no memory for the tasks.");
    }
    struct taskset *const set = memory; /* whole pages, so its cache lines are as declared */
    set->options = &options;
    code = measure(set, ring_rows);
    os_memory_free(memory, sizeof *set);
    return code;
}
