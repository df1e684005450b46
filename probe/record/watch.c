/* A thread beside the drain that looks after the measuring ones: so that it looks on while the output makes the drain
 * wait. */
#include "record/recorder_parts.h"

enum { LOOK_INTERVAL_NS = 100000000, ASLEEP_NS = 500000 };
static const int64_t patience_ns = 1000000000;

bool all_finished(const struct recorder *recorder)
{
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        if (!atomic_load_explicit(&recorder->sources[i].finished, memory_order_acquire)) {
            return false;
        }
    }
    return true;
}

/* Sleeping threads are woken again and again: one may have been just about to sleep when the first call came. Who has
 * not come to the end after a while is perhaps kept from running by others, on the CPU that it is bound to. */
static void end_sources(struct recorder *recorder)
{
    recorder->asked_ns = recorder->asked_ns == 0 ? os_now_ns() : recorder->asked_ns;
    atomic_store(&recorder->stop, true);
    if (os_now_ns() - recorder->asked_ns > patience_ns || os_stop_requested() == OS_STOP_AT_ONCE) {
        os_threads_unpin();
        recorder->was_unpinned = true;
    }
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        struct source *const source = &recorder->sources[i];
        if (source->thread != NULL && !atomic_load_explicit(&source->finished, memory_order_acquire)) {
            os_thread_interrupt(source->thread);
        }
    }
}

/* The system's own watchdog counts in its tick, which a lone thread on a nohz_full CPU switches off. So we look too:
 * a thread whose CPU time keeps up with the clock for longer than its budget has not slept. */
static bool watchdog_bites(struct recorder *recorder)
{
    const int64_t now_ns = os_now_ns();
    for (uint32_t i = 0; i < recorder->source_count && recorder->options.budget_ns != 0; i++) {
        struct source *const source = &recorder->sources[i];
        if (source->thread == NULL || atomic_load_explicit(&source->finished, memory_order_acquire)) {
            continue;
        }
        const int64_t cpu_ns = os_thread_cpu_time_of(source->thread);
        if (cpu_ns == INT64_MIN) { /* it ended just now, or can't be told */
            continue;
        }
        const int64_t idle_ns = (now_ns - source->busy_since_ns) - (cpu_ns - source->busy_cpu_ns);
        if (source->busy_since_ns == 0 || idle_ns > ASLEEP_NS) {
            source->busy_since_ns = now_ns;
            source->busy_cpu_ns = cpu_ns;
        } else if (now_ns - source->busy_since_ns > recorder->options.budget_ns) {
            os_stop_request(OS_STOP_WATCHDOG);
            return true;
        }
    }
    return false;
}

static void look(struct recorder *recorder)
{
    if (recorder_stopping(recorder) || watchdog_bites(recorder)) {
        end_sources(recorder);
    }
}

static void watch(void *argument)
{
    struct recorder *const recorder = argument;
    while (!all_finished(recorder)) {
        os_sleep_until(os_now_ns() + LOOK_INTERVAL_NS);
        look(recorder);
    }
}

void watch_begin(struct recorder *recorder)
{
    const struct os_thread_attributes attributes = {
        .name = "tauto-watch", .policy = OS_POLICY_OTHER, .cpu = OS_CPU_ANY, .stack_bytes = WATCH_STACK_BYTES};
    if (os_thread_create_ordinary(&recorder->watcher, &attributes, watch, recorder) != OS_OK) {
        recorder->watcher = NULL;
    }
}

void watch_instead(struct recorder *recorder)
{
    if (recorder->watcher == NULL) {
        look(recorder);
    }
}

void watch_end(struct recorder *recorder)
{
    if (recorder->watcher != NULL) {
        os_thread_interrupt(recorder->watcher); /* so that it sees at once that all have finished */
        os_thread_join(recorder->watcher);
        recorder->watcher = NULL;
    }
}
