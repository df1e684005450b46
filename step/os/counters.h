/* What the system counts of one thread: switches, faults and, where it is permitted, cycles and instructions. */
#ifndef TAUTO_STEP_COUNTERS_H
#define TAUTO_STEP_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

enum { EVENTS_LIMIT = 2 };
/* As perf_event_open(2) names them. */
struct step_event {
    uint32_t type;
    uint64_t config;
};
/* Cycles and instructions in user mode. */
extern const struct step_event step_hardware[EVENTS_LIMIT];

struct step_counters {
    int files[EVENTS_LIMIT]; /* the first one reads all of them; -1: none */
};

/* Of the calling thread, all or none. False: `why` has the reason, text that stays. */
bool step_counters_open(struct step_counters *counters, const struct step_event events[EVENTS_LIMIT], const char **why);
void step_counters_close(struct step_counters *counters);
/* How often each event came so far; INT64_MIN where that can't be told. */
void step_counters_read(const struct step_counters *counters, int64_t counted[EVENTS_LIMIT]);

/* Of the calling thread, so far; INT64_MIN where the system does not tell. */
struct step_usage {
    int64_t voluntary; /* switches: it gave its CPU away */
    int64_t involuntary; /* its CPU was taken from it */
    int64_t minor; /* faults that needed no disk */
    int64_t major;
};
void step_usage_read(struct step_usage *usage);

#endif
