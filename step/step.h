/*
 * A user's code in a periodic loop. Two processes, or one more for each further instance: the parent drains and writes as in every experiment; its child runs
 * the user's code and takes the time stamps. Both see `struct step_run`, which lies in shared memory, so that whatever
 * the code does to its own process, the rows that were taken before it are kept.
 */
#ifndef TAUTO_STEP_H
#define TAUTO_STEP_H

#include "exchange.h"
#include "explain.h"
#include "kind.h"
#include "step_options.h"
#include "os/child.h"
#include "os/counters.h"

#include "record/recorder.h"

/* What is wrong with the user's code, beside the probe's own exit codes (message.h). */
enum { EXIT_OF_CODE = 8 };

enum step_column {
    STEP_SCHEDULED, STEP_WAKE, STEP_BEGIN, STEP_END, STEP_CPU, STEP_VOLUNTARY, STEP_INVOLUNTARY, STEP_MINOR, STEP_MAJOR,
    STEP_CYCLES, STEP_INSTRUCTIONS, STEP_COLUMNS,
    STEP_EXPLAINED = STEP_CYCLES, /* of an explained run, which counts neither: what it calls, as enum explained_kind */
    STEP_OWN_LIMIT = STEP_EXPLAINED + EXPLAINED_COLUMNS
};

/* How far the child is; it goes on by itself but where the parent's turn is named. */
enum step_phase {
    STEP_PREPARES,
    STEP_LOADS,
    STEP_INITIALISES,
    STEP_INITIALISED, /* the parent's turn: policy and priority */
    STEP_RANKED,
    STEP_READY, /* the parent's turn: the header, and the first release */
    STEP_RUNS,
    STEP_ENDS,
    STEP_ENDED,
    STEP_REFUSED, /* `why` and `code` are set */
};

enum { STEP_NAME_BYTES = 128, STEP_MEASURES = 7 };
/* Of a row: the columns of every code, those of an exchange, the outputs. */
enum { STEP_ROW_WORDS = STEP_OWN_LIMIT + EXCHANGE_COLUMNS + STEP_SIGNALS_LIMIT };

struct step_run {
    struct recorder own_recorder; /* of the first instance */
    struct recorder *recorder; /* that of all; the child reads its flag of the end, */
    struct source *source;     /* and writes into its own source */
    uint32_t instance;
    struct step_run *leader;   /* the first instance */
    _Atomic int living;        /* of the leader: how many children have not ended */
    const struct step_options *options;
    const struct step_kind *kind;
    const char *name; /* of the code, without folders */
    bool counts_events;            /* cycles and instructions; the child opens its own counters */
    uint32_t exchange_at;          /* the word of a row where the columns of the exchange begin; 0: there is none */
    bool is_stamped;               /* its link tells when a message arrived */
    struct exchange_books exchange;
    _Atomic int phase;             /* enum step_phase */
    int code;                      /* enum exit_code */
    char why[STEP_WHY_BYTES];
    int64_t first_release_ns;
    struct os_thread_obtained obtained;
    struct tautochrone_signals signals; /* of the code; its arrays are the child's */
    struct step_inputs inputs;
    uint32_t outputs; /* how many of the code's are kept in each row, behind the columns that every code has */
    char output_names[STEP_SIGNALS_LIMIT][STEP_NAME_BYTES];
    struct step_report report;
    int64_t call_ns;      /* what a step that does nothing takes between its two time stamps */
    int64_t cpu_clock_ns; /* what the clock of the CPU time counts of itself, and is taken off */
    int64_t first[STEP_OWN_LIMIT]; /* the row of the first step of the warm-up; all 0: there was none */
    _Atomic int64_t step;     /* the number of the last step that was begun, -1: none; */
    _Atomic int64_t begun_ns; /* when it was, 0: it is done */
    _Atomic int answer;       /* of the last step */
    _Atomic bool overran;     /* the system's own watchdog ended it */
    struct explained *explained; /* what the steps call; NULL: nobody looks */
    struct step_child child; /* of the parent only, as what follows */
    struct column columns[STEP_ROW_WORDS];
    struct measure measures[STEP_MEASURES];
    struct schema schema;
    struct step_ending ending;
    char failure[STEP_WHY_BYTES];
};

/* Of a row, without what it exchanges and its outputs: the last ones are there where their counters are, or are those of an
 * explained run. */
static inline uint32_t step_own_columns(const struct step_run *run)
{
    if (run->options->explain) {
        return (uint32_t)(STEP_EXPLAINED + EXPLAINED_COLUMNS);
    }
    return run->counts_events ? (uint32_t)STEP_COLUMNS : (uint32_t)STEP_CYCLES;
}

/* Of a row, without its outputs. */
static inline uint32_t step_columns(const struct step_run *run)
{
    return step_own_columns(run) + (run->exchange_at != 0 ? (uint32_t)EXCHANGE_COLUMNS : 0);
}

/* On to the next phase, when the other side may see all that was written before. */
static inline void step_reach(struct step_run *run, enum step_phase phase)
{
    atomic_store_explicit(&run->phase, phase, memory_order_release);
}

/* In the child: asks the code, and names the outputs that are kept. An exit code; other than EXIT_MEASURED, `why` has the
 * reason. */
int step_signals_take(struct step_run *run, const struct step_code *code, uint32_t most_exchanged);
/* In the child, from its first instant to its end. */
void step_live(void *run);
/* In a thread of the parent: sees that the child ends, however, and keeps its books where it can't. */
void step_guard(void *run);
/* Ends the child. */
void step_put_down(struct step_run *run);
/* The end of a child that should not have ended yet, in words. */
void step_tell_end(struct step_run *run);

/* `argv` begins with the first option; before it are the names of the program and of the experiment. */
int experiment_step(int argc, char **argv);

#endif
