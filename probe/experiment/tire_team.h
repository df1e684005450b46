/*
 * The threads that compute the tire together. After each step all of them meet at a barrier. The last one to come
 * decides for all, while the others are held: so they agree on every release, and on the end. After the rehearsal it is
 * also the one that waits for the thread that made them all.
 */
#ifndef TAUTO_TIRE_TEAM_H
#define TAUTO_TIRE_TEAM_H

#include "experiment/schedule.h"
#include "experiment/tire_options.h"
#include "tire/live.h"

extern const struct schema tire_real_time_schema;
extern const struct schema tire_real_fast_schema;

struct tire_team;

/* One thread, on cache lines of its own. */
struct tire_worker {
    _Alignas(CACHE_LINE_BYTES) struct tire_team *team;
    struct source *source;
    uint32_t number;
    struct os_thread_obtained obtained;
    bool counts_switches;
    int64_t voluntary; /* switches over the measured part; before its end, those until its beginning */
    int64_t involuntary;
    int64_t start_ns; /* its last one */
};

/* Steps that follow one another, real-fast. */
struct tire_row {
    int64_t begin_ns; /* the threads are let go; all of them were there */
    int64_t end_ns;   /* the last one has come */
    int64_t steps;
};

/* What the last thread at the barrier has decided; the others read it when they are let go. */
struct tire_course {
    uint64_t steps; /* that are finished: the number of the next one */
    bool over;

    struct schedule schedule; /* real-time: of the step to come */
    bool counts;              /* the step just finished is recorded */
    int64_t finished_ns;      /* and that is when */

    struct tire_row row; /* real-fast */
    int64_t elapsed_ns;  /* of all rows */
    bool rests;          /* after this row all threads sleep for a moment */
    int64_t rested_ns;   /* when they began to do so the last time */
};

/* As fast as possible, before the start. */
struct tire_rehearsal {
    int64_t steps;
    int64_t fastest_ns; /* of these, INT64_MAX while there is none */
    int64_t began_ns;
    int64_t step_began_ns;
    bool over;
};

struct tire_team {
    const struct tire_options *options;
    struct recorder *recorder;
    struct tire *tire;
    struct live *live; /* NULL: nobody is shown the tire */
    struct os_barrier *barrier;
    struct os_notice *ready; /* posted by each thread when it is there, and by one of them after the rehearsal */
    struct os_semaphore *go;    /* posted for each thread, and after the rehearsal for one of them */
    struct tire_worker *workers;
    uint32_t count;
    bool begun; /* all threads are there, and may meet */
    struct tire_rehearsal rehearsal;
    int64_t steps_per_row;
    int64_t rest_every_ns; /* real-fast, INT64_MAX: never */

    _Alignas(CACHE_LINE_BYTES) struct tire_course course;
    _Atomic bool incomplete; /* a thread was woken early by a stop: the step that the others are at does not count */
};

/* For options, recorder and tire that are there already. The threads then wait, with their attributes read back.
 * Returns an exit code. Whatever it is, tire_team_run and tire_team_free must follow. */
int tire_team_gather(struct tire_team *team);
/* A few steps as fast as possible, after which the tire is put back to its beginning. Returns an exit code: a rate that
 * these threads can't keep is refused. */
int tire_team_rehearse(struct tire_team *team);
/* When the first release comes. Last before the start. */
void tire_team_choose_start(struct tire_team *team);
/* Lets the threads run until they have ended; where the run is called off, they leave at once. */
void tire_team_run(struct tire_team *team, bool call_off);
void tire_team_free(struct tire_team *team);

/* ---- By each thread, one for each pace ---- */

void tire_run_real_time(struct tire_worker *worker);
void tire_run_real_fast(struct tire_worker *worker);
/* The measured part has begun, if not before: from here on the calling thread's switches count. */
void tire_count_switches(struct tire_worker *worker);

#endif
