#include "experiment/schedule.h"

const char *const overrun_words[] = {"skip", "replay", "stop", NULL};

struct schedule schedule_from(int64_t first_release_ns, int64_t period_ns, int64_t count, int64_t warmup)
{
    return (struct schedule){
        .period_ns = period_ns, .count = count, .release = -warmup, .scheduled_ns = first_release_ns};
}

int64_t schedule_wait(const struct schedule *schedule, const struct recorder *recorder)
{
    int64_t now_ns;
    do {
        now_ns = os_sleep_until_and_read(schedule->scheduled_ns);
    } while (now_ns < schedule->scheduled_ns && !recorder_stopping(recorder));
    return now_ns;
}

uint64_t schedule_pass_over(struct schedule *schedule, struct source *source, int64_t now_ns)
{
    const int64_t behind = (now_ns - schedule->scheduled_ns) / schedule->period_ns + 1;
    const int64_t left = schedule->count - schedule->release;
    const int64_t passed = behind < left ? behind : left;
    const int64_t warming = schedule->release < 0 ? -schedule->release : 0;
    const uint64_t missed = passed > warming ? (uint64_t)(passed - warming) : 0;

    schedule->release += passed;
    schedule->scheduled_ns += passed * schedule->period_ns;
    if (missed != 0) {
        counter_add(&source->counters.missed, missed);
    }
    return missed;
}

bool schedule_advance(struct schedule *schedule, struct source *source, int64_t now_ns)
{
    schedule->release++;
    schedule->scheduled_ns += schedule->period_ns;
    if (now_ns < schedule->scheduled_ns) {
        return true;
    }
    if (schedule->release > 0) { /* no warm-up */
        source->counters.overruns++;
    }
    return false;
}

bool schedule_follow(struct schedule *schedule, struct source *source, struct recorder *recorder, enum overrun overrun,
                     int64_t now_ns)
{
    const bool was_recorded = schedule->release >= 0;
    if (schedule_advance(schedule, source, now_ns) || overrun == OVERRUN_REPLAY) {
        return true;
    }
    schedule_pass_over(schedule, source, now_ns);
    if (overrun == OVERRUN_STOP && was_recorded) {
        atomic_store(&recorder->overrun_stop, true);
        atomic_store(&recorder->stop, true);
        return false;
    }
    return true;
}

void schedule_next(struct schedule *schedule, struct source *source, int64_t now_ns)
{
    if (!schedule_advance(schedule, source, now_ns)) {
        schedule_pass_over(schedule, source, now_ns);
    }
}

void schedule_close(struct schedule *schedule, struct source *source)
{
    const int64_t end_ns = os_now_ns();
    if (schedule->release < schedule->count && end_ns >= schedule->scheduled_ns) {
        schedule_pass_over(schedule, source, end_ns);
    }
    source->counters.released = schedule->release > 0 ? (uint64_t)schedule->release : 0;
}
