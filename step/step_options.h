#ifndef TAUTO_STEP_OPTIONS_H
#define TAUTO_STEP_OPTIONS_H

#include "exchange.h"

#include "experiment/conditions.h"

/* At the releases of a rate, or one step after the other as fast as possible. */
enum step_pace { STEP_REAL_TIME, STEP_REAL_FAST };

enum { STEP_INSTANCES_LIMIT = 64 };

struct step_options {
    const char *code; /* lib.so:NAME, model.fmu */
    const char *unpacked; /* the folder of an FMU; NULL: there is none */
    const char *inputs;   /* the table of inputs; NULL: nothing goes in */
    int64_t outputs;      /* kept at most */
    int pace;             /* enum step_pace */
    int64_t period_ns; /* real-fast: of the simulated time only */
    int64_t count;  /* recorded releases */
    int64_t warmup; /* releases before those */
    int policy;     /* enum os_policy */
    int32_t below_highest;
    int64_t priority; /* the system's own number, 0 where the policy has none */
    int overrun;      /* enum overrun */
    bool explain;     /* what a step calls is seen, too */
    const char *cpus_text;
    struct cpu_list cpus; /* of the instances, in turn; OS_CPU_ANY alone: not pinned */
    int64_t instances;    /* of the code, each in a process of its own, all released at once */
    struct exchange_options exchange;
    struct conditions conditions;
};

/* Reads and checks; refusals are told. True to go on, otherwise `code` is the program's exit code. */
bool step_options_read(struct step_options *options, int argc, char **argv, int *code);
struct os_thread_attributes step_attributes(const struct step_options *options, uint32_t instance);
/* "parameters" and "schedule" of the header. */
void step_options_to_json(struct json *json, const struct step_options *options, int64_t ring_rows);

#endif
