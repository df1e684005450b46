/* The options of experiments that consist of stages: where their threads run, how urgent they are, how often. */
#ifndef TAUTO_STAGE_OPTIONS_H
#define TAUTO_STAGE_OPTIONS_H

#include "experiment/conditions.h"

enum place { PLACE_BOTH, PLACE_SAME, PLACE_DIFFERENT };

struct stage_options {
    const char *cpus_text; /* NULL: the first two that there are */
    int place;             /* enum place */
    int policy;            /* enum os_policy, fifo or rr; other where an experiment allows it */
    int64_t priority;      /* of the most urgent thread, the system's own number; 0 where the policy has none */
    int32_t below_highest;
    int64_t count;  /* recorded samples of each row */
    int64_t warmup; /* samples before those */
    struct conditions conditions;

    /* After reading. `far_cpu` is OS_CPU_ANY where there is no second one. */
    int32_t near_cpu;
    int32_t far_cpu;
};

extern const struct option_group urgency_group;

#define URGENCY_OPTIONS(target) OPTIONS_OF(urgency_group, target), CONDITION_OPTIONS(&(target)->conditions)

/* Where all threads share one CPU. */
#define ONE_CPU_STAGE_OPTIONS(target)                                                                                 \
    {"cpus", OPTION_TEXT, &(target)->cpus_text, NULL, "the one CPU of all its threads [the first]", false},           \
        URGENCY_OPTIONS(target)

#define STAGE_OPTIONS(target)                                                                                         \
    {"cpus", OPTION_TEXT, &(target)->cpus_text, NULL, "one CPU, or two: 0,1 [the first two]", false},                 \
        {"place", OPTION_CHOICE, &(target)->place, stage_places, "rows on one CPU, on two, or both [both]", false},   \
        URGENCY_OPTIONS(target)

extern const char *const stage_places[];
extern const char *const stage_policies[];

struct stage_options stage_options_default(int64_t count, int64_t warmup);

/* Reads the command line by `table`, which holds STAGE_OPTIONS or ONE_CPU_STAGE_OPTIONS (then with `place` set to
 * PLACE_SAME before), prints the help under `usage`, and checks what is common. `levels` is how many priorities the
 * experiment needs, from --priority downward; 1 allows policy other. Refusals are told. True to go on, otherwise
 * `code` is the program's exit code. */
bool stage_options_read(struct stage_options *options, struct option *table, size_t count, int argc, char **argv,
                        const char *usage, int32_t levels, int *code);
/* The keys of "parameters" that belong to these options. */
void stage_options_to_json(struct json *json, const struct stage_options *options, int64_t ring_rows);

static inline bool stage_options_want_same(const struct stage_options *options)
{
    return options->place != PLACE_DIFFERENT;
}

/* False also where there is only one CPU; the experiment then adds the absence. */
static inline bool stage_options_want_different(const struct stage_options *options)
{
    return options->place != PLACE_SAME && options->far_cpu != OS_CPU_ANY;
}

static inline bool stage_options_lack_different(const struct stage_options *options)
{
    return options->place == PLACE_BOTH && options->far_cpu == OS_CPU_ANY;
}

#endif
