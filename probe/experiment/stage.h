/*
 * An experiment of several rows in which threads meet. Each row is a stage with one to four actors (threads). All of
 * them are created, pinned and read back before the output is opened; then the stages run one after the other, so
 * that none disturbs another. The first actor measures: the row's source is its own.
 *
 * An actor's function runs once. It takes `warmup` samples that are not recorded and then `count` that are, asks
 * stage_stopping() once per sample, and leaves no other actor waiting when it ends: a partner that waits is woken once
 * more and finds the stage's end in memory that both see.
 */
#ifndef TAUTO_STAGE_H
#define TAUTO_STAGE_H

#include "experiment/stage_options.h"

#include <string.h>

enum { ACTORS_LIMIT = 4 };

struct stage;

struct actor {
    const char *role; /* "low", "high": as the documentation calls it */
    int32_t below;    /* priority levels below the experiment's own */
    int32_t cpu;
    void (*act)(struct stage *stage);

    /* The stage's own. */
    struct stage *stage;
    struct os_thread *thread;
    struct os_thread_obtained obtained;
};

struct stage {
    char name[48];
    const char *what; /* the row in words, for people */
    int64_t period_ns; /* of a periodic stage; 0 otherwise */
    struct actor actors[ACTORS_LIMIT];
    uint32_t actor_count;
    void *context; /* the experiment's: locks, cells that the actors share */

    /* Set by stages_measure. */
    struct stages *set;
    struct source *source;
    struct os_semaphore *go;   /* posted once for each actor */
    struct os_semaphore *done; /* posted by each actor but the first */
    _Atomic bool skipped;      /* a stop came before its turn */
    _Atomic int failure;       /* enum os_status: what went wrong in an actor */
};

struct stages {
    const char *experiment;
    const struct schema *schema;
    const struct stage_options *options;
    bool periodic;                                            /* released and missed are counted */
    void (*parameters)(struct json *json, const void *given); /* the experiment's own keys; may be NULL */
    const void *given;
    void (*own_books)(struct json *json, uint32_t source, const void *given); /* as the recorder's; may be NULL */
    void (*tell)(const struct stages *set); /* what it has to say of its rows, before the footer; may be NULL */
    struct absence absent[ABSENCES_LIMIT];
    uint32_t absent_count;
    struct stage *stages;
    uint32_t count;

    /* Set by stages_measure. */
    struct recorder *recorder;
    struct os_notice *ready;
};

/* Adds a row that can't be given here. */
void stages_lack(struct stages *set, const char *name, const char *why);

/* "NAME, cpu0", or "NAME, cpu0 to cpu1" where the CPUs differ. */
void stage_name(struct stage *stage, const char *name, int32_t from_cpu, int32_t to_cpu);

/* Everything from recorder_open to recorder_close; conditions_prepare has been called, so that locks and queues of the
 * experiment lie in locked memory. Returns the exit code of the program. */
int stages_measure(struct stages *set);

static inline bool stage_stopping(const struct stage *stage)
{
    return recorder_stopping(stage->set->recorder);
}

/* A call between the actors failed: the run ends, and the experiment says so. */
void stage_fail(struct stage *stage, enum os_status status);

/* Sample `k` was taken; those below 0 are warm-up. `row` has the schema's columns. After the measured interval. */
static inline void stage_record(struct stage *stage, int64_t k, const int64_t *row)
{
    struct source *const source = stage->source;
    if (k < 0) {
        source->counters.warmup++;
        return;
    }
    int64_t *const slot = ring_slot(&source->ring);
    if (slot != NULL) {
        memcpy(slot, row, stage->set->schema->column_count * sizeof *row);
        ring_commit(&source->ring);
    }
    source->counters.completed++;
}

#endif
