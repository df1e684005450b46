/* What a step of work costs on each CPU of a task set: measured before the run, and once more after it. */
#ifndef TAUTO_TASKSET_CALIBRATION_H
#define TAUTO_TASKSET_CALIBRATION_H

#include "experiment/taskset_options.h"
#include "experiment/taskset_work.h"

struct calibration {
    int32_t cpu; /* OS_CPU_ANY: wherever the system puts the thread that finds out */
    struct work_cost before;
    struct work_cost after;
};

struct calibrations {
    struct calibration of[TASKS_LIMIT];
    uint32_t count; /* 0 where the work needs none */
};

/* One CPU after the other, 40 ms each; tells where the same work takes different times. Otherwise than OS_OK `*lender`
 * is the task whose priority was borrowed in vain. */
enum os_status calibrations_take(struct calibrations *calibrations, const struct taskset_options *options,
                                 const struct task **lender);
/* After the run: tells what has changed, and writes the event. Where it can't be done the run stands as it is. */
void calibrations_repeat(struct calibrations *calibrations, const struct taskset_options *options,
                         struct recorder *recorder);

/* NULL where there is none. */
const struct work_cost *calibrations_cost(const struct calibrations *calibrations, int32_t cpu);
/* "work_costs" of the header. */
void calibrations_to_json(struct json *json, const struct calibrations *calibrations);
/* Beside the table of a probe that runs alone. */
void calibrations_print(const struct calibrations *calibrations);

#endif
