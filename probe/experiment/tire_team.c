#include "experiment/tire_team.h"

#include "experiment/priority.h"
#include "format.h"
#include "message.h"

#include <inttypes.h>

enum { NS_PER_MS = 1000000, NS_PER_US = 1000, START_WAIT_S = 10, START_DELAY_MS = 50 };
/* A machine that was disturbed for a moment shall not be called too slow: then there are more steps. */
enum { REHEARSAL_STEPS = 3, REHEARSAL_STEPS_MOST = 10, REHEARSAL_MS = 1000 };
enum { REHEARSAL_REST_MS = 4, REHEARSAL_WAIT_S = 60 };
/* A real-time thread that computes without a pause rests that often; its rows end well before that. */
enum { REST_EVERY_MS = 996, ROW_MS = 100, ROW_STEPS_MOST = 100 };
static const int64_t ns_per_s = 1000000000;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void tire_count_switches(struct tire_worker *worker)
{
    if (!worker->counts_switches) {
        worker->counts_switches = true;
        os_thread_switches(&worker->voluntary, &worker->involuntary);
    }
}

static int64_t since(int64_t before, int64_t now)
{
    return before == INT64_MIN || now == INT64_MIN ? INT64_MIN : now - before;
}

static void end_switches(struct tire_worker *worker)
{
    int64_t voluntary = INT64_MIN;
    int64_t involuntary = INT64_MIN;
    tire_count_switches(worker); /* there may have been no measured part */
    os_thread_switches(&voluntary, &involuntary);
    worker->voluntary = since(worker->voluntary, voluntary);
    worker->involuntary = since(worker->involuntary, involuntary);
}

static bool is_too_slow(const struct tire_team *team)
{
    return team->options->pace == TIRE_REAL_TIME && !team->options->overload &&
           team->rehearsal.fastest_ns > team->options->parameters.step_ns;
}

/* By the last thread of a rehearsed step, while the others are held. */
static void judge_rehearsal(struct tire_team *team)
{
    struct tire_rehearsal *const rehearsal = &team->rehearsal;
    const int64_t now_ns = os_now_ns();
    const int64_t took_ns = now_ns - rehearsal->step_began_ns;
    rehearsal->steps++;
    rehearsal->fastest_ns = least(rehearsal->fastest_ns, took_ns > 0 ? took_ns : 1); /* 0: a coarse clock */
    const bool lasts_long = now_ns - rehearsal->began_ns > (int64_t)REHEARSAL_MS * NS_PER_MS;
    const int64_t wanted = is_too_slow(team) && !lasts_long ? REHEARSAL_STEPS_MOST : REHEARSAL_STEPS;
    rehearsal->over = rehearsal->steps >= wanted || recorder_stopping(team->recorder);
}

static void rehearse(struct tire_worker *worker)
{
    struct tire_team *const team = worker->team;
    struct tire_stamps stamps;
    struct tire_stamps *const wanted = team->options->pace == TIRE_REAL_TIME ? &stamps : NULL;
    const int64_t rest_ns = tire_is_real_time_policy(team->options) ? (int64_t)REHEARSAL_REST_MS * NS_PER_MS : 0;
    for (uint64_t step = 0; !team->rehearsal.over; step++) {
        os_sleep_until_and_read(os_now_ns() + rest_ns);
        if (os_barrier_meet(team->barrier)) {
            team->rehearsal.step_began_ns = os_now_ns();
            os_barrier_open(team->barrier);
        }
        tire_step(team->tire, worker->number, step, wanted);
        if (os_barrier_meet(team->barrier)) {
            judge_rehearsal(team);
            if (team->rehearsal.over) { /* the others are held until the run may begin */
                os_notice_post(team->ready);
                os_semaphore_wait(team->go);
            }
            os_barrier_open(team->barrier);
        }
    }
}

static void work(void *argument)
{
    struct tire_worker *const worker = argument;
    struct tire_team *const team = worker->team;
    os_thread_read_back(&worker->obtained);
    os_notice_post(team->ready);
    os_semaphore_wait(team->go);
    if (team->begun) {
        rehearse(worker);
        const int64_t cpu_time_before_ns = source_join(worker->source);
        if (team->options->pace == TIRE_REAL_TIME) {
            tire_run_real_time(worker);
        } else {
            tire_run_real_fast(worker);
        }
        worker->source->counters.cpu_time_ns = source_cpu_time_since(cpu_time_before_ns);
        end_switches(worker);
    }
    source_finish(worker->source);
}

static int refuse_thread(const struct tire_options *options, uint32_t number, enum os_status status)
{
    switch (status) {
    case OS_NOT_PERMITTED:
    case OS_INVALID:
        return priority_refuse_thread((enum os_policy)options->policy, options->priority, status);
    case OS_TIMED_OUT:
        return refuse(EXIT_FAILED,
                      "thread %" PRIu32 " did not come to run within %d s: its CPU is kept busy by threads of higher "
                      "priority.",
                      number, START_WAIT_S);
    default:
        return refuse(EXIT_FAILED, "thread %" PRIu32 " of %" PRId64 " can't be started: %s.", number, options->threads,
                      os_status_text(status));
    }
}

static int start_thread(struct tire_team *team, uint32_t number)
{
    struct tire_worker *const worker = &team->workers[number];
    struct source *const source = &team->recorder->sources[number];
    const struct os_thread_attributes attributes = tire_attributes(team->options, number);
    *worker = (struct tire_worker){.team = team, .source = source, .number = number};
    if (attributes.cpu == OS_CPU_ANY) {
        format_text(source->name, sizeof source->name, "thread %" PRIu32, number);
    } else {
        format_text(source->name, sizeof source->name, "thread %" PRIu32 ", cpu%" PRId32, number, attributes.cpu);
    }
    enum os_status status = os_thread_create(&source->thread, &attributes, work, worker);
    if (status == OS_OK) {
        status = os_notice_wait_for(team->ready, START_WAIT_S * ns_per_s);
    }
    return status == OS_OK ? EXIT_MEASURED : refuse_thread(team->options, number, status);
}

int tire_team_gather(struct tire_team *team)
{
    const struct tire_options *const options = team->options;
    void *workers = NULL;
    team->count = (uint32_t)options->threads;
    team->rehearsal.fastest_ns = INT64_MAX;
    enum os_status status = os_notice_create(&team->ready);
    if (status == OS_OK) {
        status = os_semaphore_create(&team->go, 0);
    }
    if (status == OS_OK) {
        status = os_barrier_create(&team->barrier, team->count, options->spin_ns);
    }
    if (status == OS_OK) {
        status = os_memory_allocate(&workers, team->count * sizeof *team->workers);
        team->workers = workers; /* whole pages, so its cache lines are as declared */
    }
    if (status != OS_OK) {
        return refuse(EXIT_FAILED, "what the threads need to meet can't be made: %s.", os_status_text(status));
    }
    int code = EXIT_MEASURED;
    for (uint32_t i = 0; i < team->count && code == EXIT_MEASURED; i++) {
        code = start_thread(team, i);
    }
    return code;
}

/* One of them says so when it is over. Whoever asked for the end does not wait for a thread that others keep from its
 * CPU. */
static enum os_status wait_for_rehearsal(const struct tire_team *team)
{
    enum os_status status = OS_TIMED_OUT;
    for (int s = 0; s < REHEARSAL_WAIT_S && status == OS_TIMED_OUT; s++) {
        status = os_notice_wait_for(team->ready, ns_per_s);
        if (status != OS_OK && os_stop_requested() != OS_STOP_NONE) {
            os_threads_unpin();
        }
    }
    return status;
}

static void choose_rows(struct tire_team *team)
{
    const bool real_time_policy = tire_is_real_time_policy(team->options);
    const int64_t budget_ns = team->options->conditions.budget_obtained_ns;
    const int64_t longest_ns = (int64_t)ROW_MS * NS_PER_MS;
    const int64_t row_ns = real_time_policy ? least(longest_ns, budget_ns / 4) : longest_ns;
    const int64_t steps = least(row_ns / team->rehearsal.fastest_ns, ROW_STEPS_MOST);
    const bool fast = team->options->pace == TIRE_REAL_FAST;
    team->steps_per_row = fast && steps > 0 ? steps : 1;
    team->rest_every_ns =
        fast && real_time_policy ? least((int64_t)REST_EVERY_MS * NS_PER_MS, budget_ns / 2) : INT64_MAX;
}

static int refuse_rate(const struct tire_team *team)
{
    const int64_t step_ns = team->rehearsal.fastest_ns;
    const int64_t period_ns = team->options->parameters.step_ns;
    return refuse(EXIT_USAGE,
                  "a step of %" PRId64 " masses takes at least %" PRId64 ".%03" PRId64 " us here with %s and %" PRId64
                  " thread%s; the period is %" PRId64 ".%03" PRId64 " us.\nTake fewer masses, more threads or a longer "
                  "--step; --overload measures it all the same.",
                  team->options->parameters.nodes, step_ns / NS_PER_US, step_ns % NS_PER_US,
                  tire_solver_names[team->options->solver], team->options->threads,
                  team->options->threads == 1 ? "" : "s", period_ns / NS_PER_US, period_ns % NS_PER_US);
}

int tire_team_rehearse(struct tire_team *team)
{
    team->begun = true;
    team->rehearsal.began_ns = os_now_ns();
    for (uint32_t i = 0; i < team->count; i++) {
        os_semaphore_post(team->go);
    }
    if (wait_for_rehearsal(team) != OS_OK) {
        return refuse(EXIT_FAILED,
                      "%d steps were rehearsed and did not end within %d s: a CPU of these threads is kept busy by "
                      "threads of higher priority, or there are far too many masses.",
                      REHEARSAL_STEPS, REHEARSAL_WAIT_S);
    }
    if (is_too_slow(team) && !recorder_stopping(team->recorder)) {
        return refuse_rate(team);
    }
    choose_rows(team);
    tire_reset(team->tire);
    return EXIT_MEASURED;
}

void tire_team_choose_start(struct tire_team *team)
{
    const struct tire_options *const options = team->options;
    const int64_t now_ns = os_now_ns();
    team->course = (struct tire_course){
        .schedule = schedule_from(now_ns + (int64_t)START_DELAY_MS * NS_PER_MS, options->parameters.step_ns,
                                  options->count, options->warmup),
        .rested_ns = now_ns,
    };
}

void tire_team_run(struct tire_team *team, bool call_off)
{
    if (call_off) {
        atomic_store(&team->recorder->stop, true);
    }
    team->course.over = recorder_stopping(team->recorder); /* then nothing is released */
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < team->count; i++) {
        if (team->recorder->sources[i].thread == NULL) {
            atomic_store(&team->recorder->sources[i].finished, true);
        } else {
            waiting++;
        }
    }
    waiting = team->begun ? 1 : waiting; /* the others are held at the barrier */
    for (uint32_t i = 0; i < waiting; i++) {
        os_semaphore_post(team->go);
    }
    recorder_run(team->recorder);
}

void tire_team_free(struct tire_team *team)
{
    os_notice_destroy(team->ready);
    os_semaphore_destroy(team->go);
    os_barrier_destroy(team->barrier);
    os_memory_free(team->workers, team->count * sizeof *team->workers);
}
