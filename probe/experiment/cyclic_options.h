#ifndef TAUTO_CYCLIC_OPTIONS_H
#define TAUTO_CYCLIC_OPTIONS_H

#include "experiment/conditions.h"

enum wait_mode { WAIT_SLEEP, WAIT_SPIN, WAIT_HYBRID, WAIT_TIMER };

struct cyclic_options {
    int64_t period_ns;
    int64_t count;  /* recorded releases per thread */
    int64_t warmup; /* releases before those */
    int64_t stagger_ns;
    int policy; /* enum os_policy */
    int32_t below_highest;
    int64_t priority; /* the system's own number, 0 where the policy has none */
    int64_t runtime_ns;
    int overrun; /* enum overrun_policy */
    int wait;    /* enum wait_mode */
    bool overload; /* sleep, however short the period */
    const char *cpus_text;
    struct cpu_list cpus;
    struct conditions conditions;
};

/* Reads and checks; refusals are told. True to go on, otherwise `code` is the program's exit code. */
bool cyclic_options_read(struct cyclic_options *options, int argc, char **argv, int *code);
/* Against the calibrated clock, which is known only later. Returns an exit code. */
int cyclic_options_check_clock(const struct cyclic_options *options, const struct clock_calibration *clock);
/* "parameters" and "schedule" of the header. */
void cyclic_options_to_json(struct json *json, const struct cyclic_options *options, int64_t ring_rows);

#endif
