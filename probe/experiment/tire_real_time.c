/* Steps of the tire at their rate: release, step, barrier. See tire.c for where each instant is taken. */
#include "experiment/tire_show.h"

enum { SCHEDULED, START, READ, FORCES, INTEGRATED, WRITTEN, FINISHED, COLUMNS };

static const struct column columns[COLUMNS] = {
    [SCHEDULED] = {"scheduled_ns", "programmed release, start + k * period", NULL},
    [START] = {"start_ns", "first time stamp taken by the woken thread", NULL},
    [READ] = {"read_ns", "it has read its masses and those they are joined to", NULL},
    [FORCES] = {"forces_ns", "it has computed the forces of its springs", NULL},
    [INTEGRATED] = {"integrated_ns", "it has integrated velocities and positions", NULL},
    [WRITTEN] = {"written_ns", "it has written its masses", NULL},
    [FINISHED] = {"finished_ns", "the last thread has written its masses: the step is done", NULL},
};
static const struct measure measures[] = {
    {"response_ns", "release to the end of the step, T_i + T_s", SCHEDULED, FINISHED},
    {"dispatch_ns", "release to the thread's first instant, T_i", SCHEDULED, START},
    {"step_ns", "the thread's first instant to the end of the step, T_s", START, FINISHED},
};
const struct schema tire_real_time_schema = {
    .columns = columns,
    .column_count = COLUMNS,
    .measures = measures,
    .measure_count = sizeof measures / sizeof measures[0],
};

static struct source *first_source(const struct tire_team *team)
{
    return &team->recorder->sources[0];
}

/* All threads have the same releases: the books are kept for the first one. */
static void share_books(const struct tire_team *team)
{
    const struct counters *const first = &first_source(team)->counters;
    const uint64_t missed = atomic_load_explicit(&first->missed, memory_order_relaxed);
    for (uint32_t i = 1; i < team->count; i++) {
        struct counters *const counters = &team->recorder->sources[i].counters;
        counters->released = first->released;
        counters->overruns = first->overruns;
        counters->warmup = first->warmup;
        atomic_store_explicit(&counters->missed, missed, memory_order_relaxed);
    }
}

static void end(struct tire_team *team)
{
    team->course.over = true;
    schedule_close(&team->course.schedule, first_source(team));
    share_books(team);
}

/* The step was finished: on to the next release. False: that one has come already, and the policy is to stop then. */
static bool advance(struct tire_team *team)
{
    struct tire_course *const course = &team->course;
    struct source *const source = first_source(team);
    if (schedule_advance(&course->schedule, source, course->finished_ns) ||
        team->options->overrun == OVERRUN_REPLAY) {
        return true;
    }
    schedule_pass_over(&course->schedule, source, course->finished_ns);
    share_books(team);
    if (team->options->overrun == OVERRUN_STOP && course->counts) {
        atomic_store(&team->recorder->overrun_stop, true);
        atomic_store(&team->recorder->stop, true);
        return false;
    }
    return true;
}

/* A stop woke somebody before this release: so nobody owes it. Who was at work by then has moved its masses, and there
 * the others' part is computed here, for the tire to be the one after so many steps, and not half of each. */
static void call_off(struct tire_team *team)
{
    struct tire_course *const course = &team->course;
    const int64_t scheduled_ns = course->schedule.scheduled_ns;
    bool begun = false;
    for (uint32_t i = 0; i < team->count; i++) {
        begun |= team->workers[i].start_ns >= scheduled_ns;
    }
    for (uint32_t i = 0; begun && i < team->count; i++) {
        if (team->workers[i].start_ns < scheduled_ns) {
            tire_step(team->tire, i, course->steps, NULL);
        }
    }
    course->steps += begun ? 1 : 0;
    course->counts = false;
    course->over = true;
    first_source(team)->counters.released = course->schedule.release > 0 ? (uint64_t)course->schedule.release : 0;
    share_books(team);
}

/* By the last thread of a step, while the others are held. False: the step was called off. */
static bool decide(struct tire_team *team)
{
    struct tire_course *const course = &team->course;
    course->finished_ns = os_now_ns();
    if (atomic_load_explicit(&team->incomplete, memory_order_relaxed)) {
        call_off(team);
        return false;
    }
    course->steps++;
    course->counts = course->schedule.release >= 0;
    if (!course->counts) {
        first_source(team)->counters.warmup++;
    }
    if (!advance(team) || !schedule_goes_on(&course->schedule, team->recorder)) {
        end(team);
    }
    return true;
}

static void record(const struct tire_worker *worker, int64_t scheduled_ns, const struct tire_stamps *stamps)
{
    struct source *const source = worker->source;
    int64_t *const row = ring_slot(&source->ring);
    if (row != NULL) {
        row[SCHEDULED] = scheduled_ns;
        row[START] = worker->start_ns;
        row[READ] = stamps->read_ns;
        row[FORCES] = stamps->forces_ns;
        row[INTEGRATED] = stamps->integrated_ns;
        row[WRITTEN] = stamps->written_ns;
        row[FINISHED] = worker->team->course.finished_ns;
        ring_commit(&source->ring);
    }
    source->counters.completed++;
}

void tire_run_real_time(struct tire_worker *worker)
{
    struct tire_team *const team = worker->team;
    struct tire_stamps stamps = {0};
    while (!team->course.over) {
        const struct schedule schedule = team->course.schedule;
        const uint64_t step = team->course.steps;
        if (schedule.release >= 0) {
            tire_count_switches(worker);
        }
        worker->start_ns = schedule_wait(&schedule, team->recorder);
        if (worker->start_ns >= schedule.scheduled_ns) {
            tire_step(team->tire, worker->number, step, &stamps);
        } else {
            atomic_store_explicit(&team->incomplete, true, memory_order_relaxed);
        }
        if (os_barrier_meet(team->barrier)) {
            if (decide(team) && team->live != NULL) { /* while they are held: nobody moves what is shown */
                const struct live_step shown = tire_show_step(team, schedule.scheduled_ns);
                live_note(team->live, &shown);
            }
            os_barrier_open(team->barrier);
        }
        if (team->course.counts) {
            record(worker, schedule.scheduled_ns, &stamps);
        }
    }
}
