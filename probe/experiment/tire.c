/*
 * The tire of garre2014, sections 4 and 5: masses, springs and dampers, one step after the other by several threads,
 * at their rate (real-time, its 4.4) or as fast as possible (real-fast, its 4.3). docs/tire.md has the whole.
 *
 * Real-time, one row for each step and thread, in this order:
 *   scheduled_ns   the release, start + k * period: the same for all threads
 *   start_ns       read as the very next thing after the sleep; the solver follows
 *   read_ns        read by the solver in the thread (tire/solver.h): own masses and their neighbours are read,
 *   forces_ns      forces are computed,
 *   integrated_ns  velocities and positions are computed,
 *   written_ns     own masses are written; a solver that has no such part repeats the instant before
 *   finished_ns    read by the last thread to meet the others at the barrier, as its first act there: the same for all
 * T_i of equation (1) is start - scheduled, T_s is finished - start, T_w what then remains of the period. Between
 * written and finished a thread waits for the others. After finished, outside of every interval: the last one books,
 * chooses the next release for all, with --send copies what is to be shown, and lets the others go; each thread fills in
 * its row, and sleeps.
 *
 * Real-fast, one row for several steps, the same for all threads:
 *   begin_ns       read by the last thread to meet the others, as its last act before they are let go: all are awake
 *   end_ns         read by the last thread to come from the last step of the row, as its first act
 * Between them there is nothing but the solver and the barrier after each step. Rows are written, and
 * real-time threads rest 4 ms in every second, between end and the next begin. The time of the simulation is the
 * sum over the rows of one thread.
 *
 * Before any of this a few steps are rehearsed by the same threads on the same CPUs, as fast as possible: a rate that
 * they can't keep is refused, and the steps of a row are chosen by it. Then the tire is put back to its beginning.
 */
#include "experiment/experiment.h"
#include "experiment/tire_result.h"
#include "experiment/tire_show.h"

#include "message.h"

#include <inttypes.h>

enum { LOCKED_BYTES_ABOUT = 176 }; /* what a node's lock takes, and each thread's own copy of its nodes */
enum { RESULT_BYTES_PER_NODE = 2 * sizeof(double), PERMILLE = 1000, MM_PER_M = 1000, G_PER_KG = 1000 };
enum { NS_PER_MS = 1000000, SOON_THROTTLED_MS = 900 };

struct experiment {
    struct tire_options options;
    struct recorder recorder;
    struct tire_team team;
    struct tire_model model;
    struct tire_result result;
};

static int64_t rounded(double value)
{
    return (int64_t)(value + 0.5);
}

static void model_to_json(struct json *json, const struct experiment *experiment)
{
    const struct tire_model *const model = &experiment->model;
    const struct tire_spring *const ring = &model->ring;
    const double stiffness_per_mass = ring->stiffness / model->step_s;
    json_open_object(json, "model");
    json_integer(json, "mass_g", rounded(model->mass_kg * G_PER_KG));
    json_integer(json, "radius_mm", rounded(model->radius_m * MM_PER_M));
    json_integer(json, "drop_mm", rounded(model->parameters.drop_m * MM_PER_M));
    json_integer(json, "stiffness_per_mass", rounded(stiffness_per_mass)); /* 1/s^2 */
    json_integer(json, "damping_permille", rounded(PERMILLE * ring->damping / (ring->stiffness * model->step_s)));
    json_integer(json, "bytes_per_node", tire_bytes_per_node((enum tire_solver_kind)experiment->options.solver));
    json_close_object(json);
}

static void source_to_json(struct json *json, const struct experiment *experiment, uint32_t index)
{
    const struct tire_options *const options = &experiment->options;
    const struct os_thread_attributes attributes = tire_attributes(options, index);
    json_open_object(json, NULL);
    recorder_source_to_json(&experiment->recorder, json, index);
    json_integer(json, "nodes", tire_nodes_of(experiment->team.tire, index));
    if (options->pace == TIRE_REAL_TIME) {
        const struct schedule *const schedule = &experiment->team.course.schedule;
        json_integer(json, "start_ns", schedule->scheduled_ns + options->warmup * schedule->period_ns);
    }
    requested_to_json(json, &attributes);
    obtained_to_json(json, attributes.policy, &experiment->team.workers[index].obtained);
    json_close_object(json);
}

static int write_header(struct experiment *experiment)
{
    const struct tire_team *const team = &experiment->team;
    struct json json;
    recorder_header_begin(&experiment->recorder, &json, "tire");
    tire_options_to_json(&json, &experiment->options, (int64_t)experiment->recorder.options.ring_rows,
                         team->steps_per_row);
    model_to_json(&json, experiment);
    json_open_object(&json, "rehearsal");
    json_integer(&json, "steps", team->rehearsal.steps);
    json_integer(&json, "fastest_ns", team->rehearsal.fastest_ns);
    json_close_object(&json);
    json_open_array(&json, "sources");
    for (uint32_t i = 0; i < team->count; i++) {
        source_to_json(&json, experiment, i);
    }
    json_close_array(&json);
    conditions_to_json(&json, &experiment->options.conditions);
    return recorder_header_end(&experiment->recorder, &json);
}

static int refuse_nodes(int64_t nodes, enum os_status status)
{
    if (status == OS_UNSUPPORTED) {
        return refuse(EXIT_USAGE, "this system does not have the locks of this solver.\nTake another one.");
    }
    if (os_memory_is_locked()) {
        return refuse(EXIT_NOT_PERMITTED,
                      "no memory for %" PRId64 " masses: %s.\nAll of it has to be locked, and the limit on locked "
                      "memory may be lower. %s Or take fewer masses.",
                      nodes, os_status_text(status), os_advice_for_memory_lock());
    }
    return refuse(EXIT_USAGE, "no memory for %" PRId64 " masses: %s.\nTake fewer masses.", nodes,
                  os_status_text(status));
}

/* Looks first at what there is: a system that promises more would end somebody. */
static int make_tire(struct experiment *experiment)
{
    const struct tire_options *const options = &experiment->options;
    const enum tire_solver_kind solver = (enum tire_solver_kind)options->solver;
    const bool locks = solver == TIRE_SEMAPHORE || solver == TIRE_MUTEX_PI;
    const int64_t bytes = options->parameters.nodes * (tire_bytes_per_node(solver) + RESULT_BYTES_PER_NODE +
                                                       (locks ? LOCKED_BYTES_ABOUT : 0));
    experiment->model = tire_model_of(&options->parameters);
    enum os_status status = bytes > os_memory_available_bytes() ? OS_NO_MEMORY : OS_OK;
    if (status == OS_OK) {
        status = tire_result_prepare(&experiment->result, options->parameters.nodes);
    }
    if (status == OS_OK) {
        status = tire_create(&experiment->team.tire, &experiment->model, solver, (uint32_t)options->threads);
    }
    return status == OS_OK ? EXIT_MEASURED : refuse_nodes(options->parameters.nodes, status);
}

/* Real-fast, if it lasts long enough; at a rate, if nearly all of the period is needed. */
static void warn_if_throttled(const struct experiment *experiment)
{
    const struct tire_options *const options = &experiment->options;
    const int64_t period_ns = options->parameters.step_ns;
    const int64_t fastest_ns = experiment->team.rehearsal.fastest_ns;
    const bool busy = options->pace == TIRE_REAL_FAST
                          ? options->count > (int64_t)SOON_THROTTLED_MS * NS_PER_MS / fastest_ns
                          : fastest_ns > period_ns - period_ns / 10 || period_ns <= PERIOD_WITHOUT_SLACK_NS;
    if (tire_is_real_time_policy(options) && busy) {
        conditions_warn_of_throttling();
    }
}

static int run(struct experiment *experiment)
{
    struct tire_team *const team = &experiment->team;
    int code = tire_team_gather(team);
    if (code == EXIT_MEASURED) {
        code = tire_team_rehearse(team);
    }
    if (code == EXIT_MEASURED) {
        warn_if_throttled(experiment);
        code = tire_show_begin(team);
    }
    if (code == EXIT_MEASURED) {
        code = recorder_open_output(&experiment->recorder);
    }
    if (code == EXIT_MEASURED) {
        tire_team_choose_start(team);
        code = write_header(experiment);
    }
    tire_team_run(team, code != EXIT_MEASURED);
    tire_show_end(team);
    if (code == EXIT_MEASURED) {
        tire_result_take(&experiment->result, team);
    }
    return code;
}

static int measure(struct experiment *experiment)
{
    struct recorder *const recorder = &experiment->recorder;
    experiment->team.options = &experiment->options;
    experiment->team.recorder = recorder;
    int code = tire_options_check_clock(&experiment->options, &recorder->clock_before);
    if (code == EXIT_MEASURED) {
        code = make_tire(experiment);
    }
    if (code == EXIT_MEASURED) {
        code = run(experiment);
    }
    const bool alone = code == EXIT_MEASURED && recorder->options.out == NULL;
    if (alone) {
        tire_result_print(&experiment->result, &experiment->team);
    }
    tire_team_free(&experiment->team);
    if (code == EXIT_MEASURED) {
        code = recorder_close(recorder);
    } else {
        recorder_abandon(recorder);
    }
    tire_destroy(experiment->team.tire);
    tire_result_free(&experiment->result);
    return code;
}

static struct os_thread_attributes thread_of(const void *context, uint32_t source)
{
    return tire_attributes(context, source);
}

static int open_and_measure(struct experiment *experiment)
{
    const struct tire_options *const options = &experiment->options;
    const struct recording_options *const recording = &options->conditions.recording;
    const bool real_time = options->pace == TIRE_REAL_TIME;
    const int64_t ring_rows = recording_ring_rows(recording, options->count, real_time ? options->parameters.step_ns : 0);
    if (ring_rows < 0) {
        return EXIT_USAGE;
    }
    /* An ordinary thread that computes without end harms nobody. */
    const bool watched = real_time || tire_is_real_time_policy(options);
    struct recorder_options recorder_options = recording_for_recorder(
        recording, ring_rows, watched ? options->conditions.budget_obtained_ns : 0, real_time);
    recorder_options.thread_of = thread_of;
    recorder_options.context = options;
    const int code = recorder_open(&experiment->recorder, &recorder_options,
                                   real_time ? &tire_real_time_schema : &tire_real_fast_schema,
                                   (uint32_t)options->threads);
    return code == EXIT_MEASURED ? measure(experiment) : code;
}

int experiment_tire(int argc, char **argv)
{
    struct tire_options options;
    int code = EXIT_MEASURED;
    if (!tire_options_read(&options, argc, argv, &code)) {
        return code;
    }
    code = conditions_prepare(&options.conditions);
    if (code != EXIT_MEASURED) {
        return code;
    }
    void *memory = NULL;
    if (os_memory_allocate(&memory, sizeof(struct experiment)) != OS_OK) {
        return refuse(EXIT_FAILED, "no memory for the experiment.");
    }
    struct experiment *const experiment = memory; /* whole pages, so its cache lines are as declared */
    experiment->options = options;
    code = open_and_measure(experiment);
    os_memory_free(memory, sizeof *experiment);
    return code;
}
