/* Steps of the tire as fast as possible. Several of them make one row, so that reading the clock costs nothing. */
#include "experiment/tire_team.h"

/* A real-time thread lets everybody else on its CPU run for 4 ms in every second. */
enum { REST_MS = 4, NS_PER_MS = 1000000 };

enum { BEGIN, END, STEPS, COLUMNS };

static const struct column columns[COLUMNS] = {
    [BEGIN] = {"begin_ns", "all threads are there and are let go", NULL},
    [END] = {"end_ns", "the last thread has finished the last step of the row", NULL},
    [STEPS] = {"steps", "computed between the two", "1"},
};
static const struct measure elapsed = {"elapsed_ns", "time for the steps of a row", BEGIN, END};
const struct schema tire_real_fast_schema = {
    .columns = columns,
    .column_count = COLUMNS,
    .measures = &elapsed,
    .measure_count = 1,
};

/* By the last thread to come, while the others are held: the next row, or the end. */
static void begin_row(struct tire_team *team)
{
    struct tire_course *const course = &team->course;
    const int64_t left = team->options->count - (int64_t)course->steps;
    course->over = left == 0 || recorder_stopping(team->recorder);
    course->row.steps = left < team->steps_per_row ? left : team->steps_per_row;
    course->row.begin_ns = os_now_ns();
}

static void end_row(struct tire_team *team)
{
    const int64_t now_ns = os_now_ns();
    struct tire_course *const course = &team->course;
    course->row.end_ns = now_ns;
    course->elapsed_ns += now_ns - course->row.begin_ns;
    course->steps += (uint64_t)course->row.steps;
    course->rests = now_ns - course->rested_ns >= team->rest_every_ns;
    course->rested_ns = course->rests ? now_ns : course->rested_ns;
}

static void record(struct source *source, const struct tire_row *done)
{
    int64_t *const row = ring_slot(&source->ring);
    if (row != NULL) {
        row[BEGIN] = done->begin_ns;
        row[END] = done->end_ns;
        row[STEPS] = done->steps;
        ring_commit(&source->ring);
    }
    source->counters.completed++;
}

static void compute_row(const struct tire_worker *worker, uint64_t first)
{
    struct tire_team *const team = worker->team;
    const uint64_t last = first + (uint64_t)team->course.row.steps - 1;
    for (uint64_t step = first; step <= last; step++) {
        tire_step(team->tire, worker->number, step, NULL);
        if (os_barrier_meet(team->barrier)) {
            if (step == last) {
                end_row(team);
            }
            os_barrier_open(team->barrier);
        }
    }
}

void tire_run_real_fast(struct tire_worker *worker)
{
    struct tire_team *const team = worker->team;
    tire_count_switches(worker);
    for (;;) {
        if (os_barrier_meet(team->barrier)) {
            begin_row(team);
            os_barrier_open(team->barrier);
        }
        if (team->course.over) {
            break;
        }
        compute_row(worker, team->course.steps);
        record(worker->source, &team->course.row);
        if (team->course.rests) {
            os_sleep_until_and_read(team->course.rested_ns + (int64_t)REST_MS * NS_PER_MS);
        }
    }
}
