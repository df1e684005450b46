/* Tasks as they stand in the option --tasks: NAME:PERIOD:DEADLINE:EXECUTION:PRIORITY:CPU[:OFFSET[:RUNTIME]],… */
#ifndef TAUTO_TASKSET_TASKS_H
#define TAUTO_TASKSET_TASKS_H

#include "os/os.h"

enum { TASKS_LIMIT = 64, TASK_NAME_BYTES = 48 };

struct task {
    char name[TASK_NAME_BYTES];
    int64_t period_ns;
    int64_t deadline_ns;  /* after the release */
    int64_t execution_ns; /* of one job, without interruption */
    int64_t priority;     /* the system's own number; 0 where the policy has none */
    int32_t below_highest;
    int32_t cpu;       /* or OS_CPU_ANY */
    int64_t offset_ns; /* of the first release, after the common start */
    int64_t runtime_ns; /* the budget of policy deadline; 0: not given */

    /* From the duration and the warm-up. */
    int64_t count;
    int64_t warmup;
};

/* Reads the text; every value is checked by itself and against the policy, refusals name task and field.
 * Returns an exit code. */
int tasks_read(struct task *tasks, uint32_t *count, const char *text, enum os_policy policy);

#endif
