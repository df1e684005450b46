/*
 * The conditions that every measuring process sets up before it lays out memory, and how they are described: what was
 * requested beside what was obtained.
 */
#ifndef TAUTO_CONDITIONS_H
#define TAUTO_CONDITIONS_H

#include "experiment/recording_options.h"

struct conditions {
    struct recording_options recording;
    int64_t budget_ns;             /* of the watchdog */
    int64_t budget_obtained_ns;    /* what the system granted, after conditions_prepare */
    int64_t wake_latency_limit_ns; /* -1: leave it as it is */
};

extern const struct option_group condition_group;
extern const struct option_group housekeeping_group; /* its last one, for who has no watchdog of ours */

#define HOUSEKEEPING_OPTION(target) OPTIONS_OF(housekeeping_group, target)
#define CONDITION_OPTIONS(target)                                                                                     \
    OPTIONS_OF(condition_group, target), RECORDING_OPTIONS(&(target)->recording)

/* Beside os_advice_for_policy(), where an experiment can also do without. */
extern const char advice_for_ordinary_policy[];

struct conditions conditions_default(void);
/* False after telling what is wrong. */
bool conditions_check(struct conditions *conditions);
/* Signals, watchdog, wake-up latency, memory lock. Returns an exit code; refusals are told. */
int conditions_prepare(struct conditions *conditions);
/* For an experiment whose threads ask for their CPU time. Returns as conditions_prepare. */
int conditions_need_cpu_time(void);
/* With so short a period, or a shorter one, a real-time thread takes nearly all of its CPU, also when it sleeps. */
enum { PERIOD_WITHOUT_SLACK_NS = 20000 };
/* For a real-time thread that will take nearly all of its CPU. */
void conditions_warn_of_throttling(void);

/* "process" of the header, and "requested" and "obtained" of one source. */
void conditions_to_json(struct json *json, const struct conditions *conditions);
void requested_to_json(struct json *json, const struct os_thread_attributes *attributes);
void obtained_to_json(struct json *json, enum os_policy requested, const struct os_thread_obtained *obtained);

#endif
