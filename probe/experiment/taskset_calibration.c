#include "experiment/taskset_calibration.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>

enum { TOLD_THOUSANDTHS = 20, CPU_NAME_BYTES = 24 };

static const char *name_cpu(char text[CPU_NAME_BYTES], int32_t cpu)
{
    if (cpu == OS_CPU_ANY) {
        return "any CPU";
    }
    format_text(text, CPU_NAME_BYTES, "CPU %" PRId32, cpu);
    return text;
}

static void find_cost(void *cost)
{
    *(struct work_cost *)cost = work_measure_cost();
}

/* With the lender's priority, so that no task could disturb. A deadline thread would be stopped by its budget: one of
 * policy fifo stands in for it. */
static enum os_status measure_cost(const struct taskset_options *options, const struct task *lender,
                                   struct work_cost *cost)
{
    struct os_thread_attributes attributes = taskset_attributes(options, lender);
    if (attributes.policy == OS_POLICY_DEADLINE) {
        attributes.policy = os_usual_policy();
        attributes.below_highest = os_priority_levels(attributes.policy) / 2;
    }
    struct os_thread *thread = NULL;
    const enum os_status status = os_thread_create(&thread, &attributes, find_cost, cost);
    return status == OS_OK ? os_thread_join(thread) : status;
}

static const struct task *most_urgent_on(const struct taskset_options *options, int32_t cpu)
{
    const struct task *found = NULL;
    for (uint32_t i = 0; i < options->count; i++) {
        const struct task *const task = &options->tasks[i];
        if (task->cpu == cpu && (found == NULL || task->below_highest < found->below_highest)) {
            found = task;
        }
    }
    return found;
}

const struct work_cost *calibrations_cost(const struct calibrations *calibrations, int32_t cpu)
{
    for (uint32_t i = 0; i < calibrations->count; i++) {
        if (calibrations->of[i].cpu == cpu) {
            return &calibrations->of[i].before;
        }
    }
    return NULL;
}

static void tell_spread(const struct calibration *calibration)
{
    char name[CPU_NAME_BYTES];
    const int64_t spread = work_cost_spread(&calibration->before);
    if (spread > TOLD_THOUSANDTHS) {
        warn("the same work takes different times on %s: half of the tries lie %" PRId64 ".%" PRId64 " %% apart. "
             "Execution times are no more exact than that; is the frequency changing, or the CPU shared?",
             name_cpu(name, calibration->cpu), spread / 10, spread % 10);
    }
}

static void tell_change(const struct calibration *calibration)
{
    char name[CPU_NAME_BYTES];
    const int64_t change = work_cost_change(&calibration->before, &calibration->after);
    const int64_t size = change < 0 ? -change : change;
    if (size > TOLD_THOUSANDTHS) {
        warn("the work that was calibrated on %s takes %" PRId64 ".%" PRId64 " %% %s time after the run than before "
             "it: execution times may have been off by as much.",
             name_cpu(name, calibration->cpu), size / 10, size % 10, change > 0 ? "more" : "less");
    }
}

enum os_status calibrations_take(struct calibrations *calibrations, const struct taskset_options *options,
                                 const struct task **lender)
{
    for (uint32_t i = 0; i < options->count && options->work == WORK_CALIBRATED; i++) {
        const int32_t cpu = options->tasks[i].cpu;
        if (calibrations_cost(calibrations, cpu) != NULL) {
            continue;
        }
        struct calibration *const calibration = &calibrations->of[calibrations->count];
        calibration->cpu = cpu;
        *lender = most_urgent_on(options, cpu);
        const enum os_status status = measure_cost(options, *lender, &calibration->before);
        if (status != OS_OK) {
            return status;
        }
        calibrations->count++;
        tell_spread(calibration);
    }
    return OS_OK;
}

void calibrations_repeat(struct calibrations *calibrations, const struct taskset_options *options,
                         struct recorder *recorder)
{
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "event", "work-calibrated");
    json_integer(&json, "time_ns", os_now_ns());
    json_open_array(&json, "costs");
    for (uint32_t i = 0; i < calibrations->count && os_stop_requested() != OS_STOP_AT_ONCE; i++) {
        struct calibration *const calibration = &calibrations->of[i];
        if (measure_cost(options, most_urgent_on(options, calibration->cpu), &calibration->after) != OS_OK) {
            break;
        }
        work_cost_to_json(&json, NULL, calibration->cpu, &calibration->after);
        tell_change(calibration);
    }
    json_close_array(&json);
    json_close_object(&json);
    if (recorder->streaming && calibrations->count > 0) {
        stream_write_json(&recorder->stream, FRAME_EVENT, &json); /* its failure is told at the end */
    }
    json_free(&json);
}

void calibrations_to_json(struct json *json, const struct calibrations *calibrations)
{
    json_open_array(json, "work_costs");
    for (uint32_t i = 0; i < calibrations->count; i++) {
        work_cost_to_json(json, NULL, calibrations->of[i].cpu, &calibrations->of[i].before);
    }
    json_close_array(json);
}

void calibrations_print(const struct calibrations *calibrations)
{
    for (uint32_t i = 0; i < calibrations->count; i++) {
        const struct calibration *const calibration = &calibrations->of[i];
        const int64_t spread = work_cost_spread(&calibration->before);
        char name[CPU_NAME_BYTES];
        print("%s: %d steps of work take %" PRId64 " ns, half of the tries within %" PRId64 ".%" PRId64 " %%; %" PRId64
              " ns after the run\n",
              name_cpu(name, calibration->cpu), WORK_STEPS_BASE, calibration->before.median_ns, spread / 10,
              spread % 10, calibration->after.median_ns);
    }
}
