#include "experiment/tire_show.h"

#include "message.h"

#include <inttypes.h>

int tire_show_begin(struct tire_team *team)
{
    const struct tire_options *const options = team->options;
    if (options->send_text == NULL) {
        return EXIT_MEASURED;
    }
    const struct tire_model model = tire_model_of(&options->parameters);
    const bool pinned = options->cpus.cpus[0] != OS_CPU_ANY;
    const uint32_t used = team->count < options->cpus.count ? team->count : options->cpus.count;
    const struct live_options wanted = {
        .to = options->send,
        .tire = team->tire,
        .nodes = options->parameters.nodes,
        .radius_m = model.radius_m,
        .solver = (enum tire_solver_kind)options->solver,
        .threads = team->count,
        .period_ns = options->parameters.step_ns,
        .measured_cpus = options->cpus.cpus,
        .measured_cpu_count = pinned ? used : 0,
    };
    const enum os_status status = live_open(&team->live, &wanted);
    return status == OS_OK ? EXIT_MEASURED
                           : refuse(EXIT_FAILED, "the tire can't be sent to %s: %s.", options->send_text,
                                    os_status_text(status));
}

struct live_step tire_show_step(const struct tire_team *team, int64_t scheduled_ns)
{
    struct live_step step = {.steps = 0};
    if (team->live == NULL) {
        return step;
    }
    const struct tire_course *const course = &team->course;
    const struct counters *const books = &team->recorder->sources[0].counters; /* as all threads have them */
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    for (uint32_t i = 0; i < team->count; i++) {
        const int64_t start_ns = team->workers[i].start_ns;
        first_ns = start_ns < first_ns ? start_ns : first_ns;
        last_ns = start_ns > last_ns ? start_ns : last_ns;
    }
    step.steps = course->steps;
    step.released = course->schedule.release > 0 ? (uint64_t)course->schedule.release : 0;
    step.missed = books->overruns + atomic_load_explicit(&books->missed, memory_order_relaxed);
    step.scheduled_ns = scheduled_ns;
    step.dispatch_ns = last_ns - scheduled_ns;
    step.step_ns = course->finished_ns - first_ns;
    step.next_ns = course->schedule.scheduled_ns;
    return step;
}

void tire_show_end(struct tire_team *team)
{
    const struct live_counts counts = live_close(team->live);
    team->live = NULL;
    if (counts.unsent > 0) {
        warn("%" PRIu64 " of %" PRIu64 " states could not be sent to %s: %s. They count as lost there.", counts.unsent,
             counts.sent + counts.unsent, team->options->send_text, os_status_text(counts.why));
    }
}
