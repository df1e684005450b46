/* Options of the experiment `tire`. */
#ifndef TAUTO_TIRE_OPTIONS_H
#define TAUTO_TIRE_OPTIONS_H

#include "experiment/conditions.h"
#include "tire/live.h"
#include "tire/solver.h"

enum tire_pace { TIRE_REAL_TIME, TIRE_REAL_FAST };

struct tire_options {
    struct tire_parameters parameters; /* in real time its step is the period, too */
    int64_t stiffness;                 /* per mass, in 1/s^2, as it was given; 0: derived */
    int64_t threads;
    int solver; /* enum tire_solver_kind */
    int pace;   /* enum tire_pace */
    int64_t count;  /* steps; in real time the releases that are recorded */
    int64_t warmup; /* releases before those */
    int overrun;    /* enum tire_overrun */
    int policy;     /* enum os_policy */
    int32_t below_highest;
    int64_t priority; /* the system's own number, 0 where the policy has none */
    const char *cpus_text;
    struct cpu_list cpus; /* thread t is on the one at t modulo their number */
    int64_t spin_ns;
    bool overload;
    const char *send_text; /* NULL: the tire is not sent */
    struct live_destination send;
    struct conditions conditions;
};

/* Reads and checks; refusals are told. True to go on, otherwise `code` is the program's exit code. */
bool tire_options_read(struct tire_options *options, int argc, char **argv, int *code);
/* Against the calibrated clock, which is known only later. Returns an exit code. */
int tire_options_check_clock(const struct tire_options *options, const struct clock_calibration *clock);

bool tire_is_real_time_policy(const struct tire_options *options);
struct os_thread_attributes tire_attributes(const struct tire_options *options, uint32_t thread);

/* "parameters" of the header, and "schedule" where there is one. */
void tire_options_to_json(struct json *json, const struct tire_options *options, int64_t ring_rows,
                          int64_t steps_per_row);

#endif
