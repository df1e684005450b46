#include "record/ruler.h"

static void find(void *calibration)
{
    *(struct clock_calibration *)calibration = calibrate_clock(0);
}

/* A deadline thread would be stopped by its budget: one of policy fifo stands in for it. */
static struct os_thread_attributes attributes_of(const struct recorder *recorder, uint32_t source)
{
    struct os_thread_attributes attributes = recorder->options.thread_of(recorder->options.context, source);
    if (attributes.policy == OS_POLICY_DEADLINE) {
        attributes.policy = os_usual_policy();
        attributes.below_highest = os_priority_levels(attributes.policy) / 2;
    }
    attributes.name = "tauto-ruler";
    return attributes;
}

/* Sources that take turns on the same CPU need it once. */
static const struct source *alike(const struct recorder *recorder, uint32_t source)
{
    const struct os_thread_attributes own = attributes_of(recorder, source);
    for (uint32_t i = 0; i < source; i++) {
        const struct os_thread_attributes other = attributes_of(recorder, i);
        if (other.cpu == own.cpu && other.policy == own.policy && other.below_highest == own.below_highest) {
            return &recorder->sources[i];
        }
    }
    return NULL;
}

static enum os_status take(const struct recorder *recorder, uint32_t source, struct clock_calibration *calibration)
{
    const struct os_thread_attributes attributes = attributes_of(recorder, source);
    struct os_thread *thread = NULL;
    const enum os_status status = os_thread_create(&thread, &attributes, find, calibration);
    return status == OS_OK ? os_thread_join(thread) : status;
}

static void take_all(struct recorder *recorder, bool after)
{
    for (uint32_t i = 0; i < recorder->source_count && recorder->options.thread_of != NULL; i++) {
        struct source *const source = &recorder->sources[i];
        const struct source *const known = alike(recorder, i);
        struct clock_calibration found = {.cost_ns = 0};
        if (known != NULL) {
            found = after ? known->clock_after : known->clock_before;
        } else if (os_stop_requested() == OS_STOP_AT_ONCE || take(recorder, i, &found) != OS_OK) {
            return; /* each of the others could take as long to be refused */
        }
        if (after) {
            source->clock_after = found;
        } else {
            source->clock_before = found;
        }
    }
}

void ruler_take_before(struct recorder *recorder)
{
    take_all(recorder, false);
}

void ruler_take_after(struct recorder *recorder)
{
    if (!recorder->was_unpinned) { /* a CPU is held by others: who is bound to it would wait in vain */
        take_all(recorder, true);
    }
}

static bool is_known(const struct clock_calibration *calibration)
{
    return calibration->cost_ns > 0 || calibration->step_ns > 0;
}

struct clock_calibration ruler_slowest(const struct recorder *recorder, bool after)
{
    const struct clock_calibration *slowest = NULL;
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        const struct source *const source = &recorder->sources[i];
        const struct clock_calibration *const own = after ? &source->clock_after : &source->clock_before;
        if (is_known(own) && (slowest == NULL || own->cost_ns > slowest->cost_ns)) {
            slowest = own;
        }
    }
    return slowest != NULL ? *slowest : calibrate_clock(0);
}

void ruler_to_json(struct json *json, const struct source *source)
{
    if (is_known(&source->clock_before)) {
        calibration_to_json(json, "clock", &source->clock_before);
    }
}

void rulers_to_json(struct json *json, const struct recorder *recorder)
{
    json_open_array(json, "clocks");
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        if (is_known(&recorder->sources[i].clock_after)) {
            json_open_object(json, NULL);
            json_integer(json, "source", i);
            calibration_to_json(json, "clock", &recorder->sources[i].clock_after);
            json_close_object(json);
        }
    }
    json_close_array(json);
}
