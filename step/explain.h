/*
 * What a step does that a step in real time should not do, and which function does it: `--explain`. Only the program
 * tauto-step-explain has what sees that (os/explain.c); tauto-step has nothing of it, and becomes that program.
 */
#ifndef TAUTO_STEP_EXPLAIN_H
#define TAUTO_STEP_EXPLAIN_H

#include "os/os.h"

#include "record/json.h"

enum explained_kind {
    EXPLAINED_HEAP,   /* malloc, free and their kin */
    EXPLAINED_SYSTEM, /* other system calls than those of the next two */
    EXPLAINED_LOCK,   /* waits at a futex: a mutex, a condition variable, a semaphore */
    EXPLAINED_THREAD, /* threads that were started */
    EXPLAINED_FAULT,  /* page faults */
    EXPLAINED_KINDS
};
/* Those that have a column of the row; the system's own counters have the faults. */
enum { EXPLAINED_COLUMNS = EXPLAINED_FAULT };

/* Whether what a step does is kept with the function that does it. */
enum explained_step { EXPLAINED_FIRST, EXPLAINED_WARMUP, EXPLAINED_RECORDED };

enum {
    SITES_LIMIT = 256,
    SITE_FRAMES_LIMIT = 8,
    MODULES_LIMIT = 32,
    SITE_DETAIL_BYTES = 96,
    MODULE_BYTES = 512,
    EXPLAINED_WHY_BYTES = 128,
};

/* An address of code: in a file, `at` bytes behind its beginning. */
struct site_frame {
    uint32_t module;
    uint64_t at;
};

/* A chain of callers, with what it did in all steps. */
struct site {
    enum explained_kind kind;
    int64_t call;     /* the number of a system call; -1: `name` has what was called */
    const char *name; /* text that stays, in the child as in its parent */
    char detail[SITE_DETAIL_BYTES]; /* the file that was written, what memory was touched; "": nothing to say */
    uint64_t key;
    int64_t count;    /* in recorded steps */
    int64_t steps;    /* in so many of them */
    int64_t in_first; /* in the first step of the warm-up */
    int64_t last_step;
    int64_t longest_ns; /* a single one took so long at most; 0: not timed */
    uint32_t frame_count;
    struct site_frame frames[SITE_FRAMES_LIMIT]; /* the innermost first, from the caller of what was called on */
};

/* Lies in memory that the child shares with its parent. */
struct explained {
    uint32_t module_count;
    uint32_t site_count;
    int64_t lost; /* in recorded steps, not kept with a function: no more sites had a place, or a step had too many faults */
    char modules[MODULES_LIMIT][MODULE_BYTES];
    struct site sites[SITES_LIMIT];
    char absent[EXPLAINED_KINDS][EXPLAINED_WHY_BYTES]; /* why this kind can't be seen here; "": it can */
};

/* All are called by the thread that will run the steps, `open` before it has given up its rights. */
struct step_explainer {
    void (*open)(struct explained *explained);
    void (*start)(void);
    void (*begin)(int64_t step, enum explained_step which);
    void (*end)(int64_t counted[EXPLAINED_COLUMNS]); /* NO_VALUE: it can't be seen */
};

/* NULL: this program has none. */
const struct step_explainer *step_explainer(void);

/* The keys of the event `explained`. */
void explained_to_json(struct json *json, const struct explained *explained);

#endif
