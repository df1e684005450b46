#ifndef TAUTO_TASKSET_OPTIONS_H
#define TAUTO_TASKSET_OPTIONS_H

#include "experiment/conditions.h"
#include "experiment/taskset_tasks.h"

enum taskset_overrun { TASKSET_SKIP, TASKSET_REPLAY };

struct taskset_options {
    const char *tasks_text;
    int64_t duration_ns;
    int64_t warmup_ns;
    int64_t margin_ns; /* of the budget under policy deadline; -1: a tenth of the execution time and 20 us */
    int policy;        /* enum os_policy */
    int overrun;       /* enum taskset_overrun */
    int work;          /* enum work_kind */
    bool overload;
    struct conditions conditions;

    struct task tasks[TASKS_LIMIT];
    uint32_t count;
    int64_t most_releases; /* of one task */
};

/* Reads and checks; refusals are told. True to go on, otherwise `code` is the program's exit code. */
bool taskset_options_read(struct taskset_options *options, int argc, char **argv, int *code);
/* What the thread of a task asks for. */
struct os_thread_attributes taskset_attributes(const struct taskset_options *options, const struct task *task);
/* "parameters" of the header. */
void taskset_options_to_json(struct json *json, const struct taskset_options *options, int64_t ring_rows);

#endif
