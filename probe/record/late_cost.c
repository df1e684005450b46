/* What the recording of events costs a thread that wakes: windows with it and without it, in turn. */
#include "record/late.h"

enum { WINDOWS = 5, CYCLES = 50, COLD_CYCLES = 3, PERIOD_NS = 1000000, START_NS = 2000000 };

static void sleep_and_wake(void *argument)
{
    struct histogram *const latencies = argument;
    int64_t release_ns = os_now_ns() + START_NS;
    for (int i = 0; i < COLD_CYCLES + CYCLES; i++, release_ns += PERIOD_NS) {
        const int64_t wake_ns = os_sleep_until_and_read(release_ns);
        if (i >= COLD_CYCLES && wake_ns >= release_ns) {
            histogram_add(latencies, wake_ns - release_ns);
        }
    }
}

/* A deadline thread would need its budget: one of policy fifo stands in for it. */
static struct os_thread_attributes trial_attributes(const struct recorder *recorder)
{
    struct os_thread_attributes attributes = recorder->options.thread_of(recorder->options.context, 0);
    if (attributes.policy == OS_POLICY_DEADLINE) {
        attributes.policy = os_usual_policy();
        attributes.below_highest = os_priority_levels(attributes.policy) / 2;
    }
    attributes.name = "tauto-trial";
    return attributes;
}

static bool run_window(const struct os_thread_attributes *attributes, struct histogram *latencies)
{
    struct os_thread *thread = NULL;
    return os_stop_requested() == OS_STOP_NONE &&
           os_thread_create(&thread, attributes, sleep_and_wake, latencies) == OS_OK && os_thread_join(thread) == OS_OK;
}

static bool run_windows(const struct recorder *recorder, struct os_late_trace *trace, struct histogram *with,
                        struct histogram *without)
{
    const struct os_thread_attributes attributes = trial_attributes(recorder);
    bool ran = true;
    for (int i = 0; i < WINDOWS && ran; i++) {
        os_late_trace_pause(trace);
        ran = run_window(&attributes, without);
        os_late_trace_resume(trace);
        ran = ran && run_window(&attributes, with);
    }
    return ran;
}

struct late_cost late_measure_cost(const struct recorder *recorder, struct os_late_trace *trace)
{
    enum { PARTS = 100, MEDIAN = 50, HIGH = 99 };
    struct late_cost cost = {.cycles = 0};
    void *memory = NULL;
    const size_t bytes = 2 * histogram_bytes();
    if (os_memory_allocate(&memory, bytes) != OS_OK) {
        return cost;
    }
    struct histogram with;
    struct histogram without;
    histogram_begin(&with, memory);
    histogram_begin(&without, (uint8_t *)memory + histogram_bytes());
    if (run_windows(recorder, trace, &with, &without) && with.total > 0 && without.total > 0) {
        cost = (struct late_cost){
            .cycles = with.total < without.total ? with.total : without.total,
            .median_with_ns = histogram_quantile(&with, MEDIAN, PARTS),
            .median_without_ns = histogram_quantile(&without, MEDIAN, PARTS),
            .p99_with_ns = histogram_quantile(&with, HIGH, PARTS),
            .p99_without_ns = histogram_quantile(&without, HIGH, PARTS),
        };
    }
    os_memory_free(memory, bytes);
    return cost;
}
