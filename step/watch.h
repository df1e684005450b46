/*
 * A program of the user's that marks its own loops (tautochrone_loop.h). It runs in a child process and takes the time stamps;
 * this process reads them out of the memory that both see, and drains and writes as every experiment does. A program that marks
 * nothing is watched from outside (os/outside.h): then the kernel takes the time stamps, and writes the same rows.
 */
#ifndef TAUTO_WATCH_H
#define TAUTO_WATCH_H

#include "os/outside.h"
#include "os/program.h"

#include "experiment/conditions.h"

#define TAUTOCHRONE_LOOP_LAYOUT_ALONE
#include "tautochrone_loop.h"

enum { WATCH_LOOPS_LIMIT = 8, WATCH_WHY_BYTES = 1024, WATCH_NAME_BYTES = 64, WATCH_BY_BYTES = 128 };

/* Without a period there is no last one. */
enum watch_column { WATCH_K, WATCH_BEGIN, WATCH_END, WATCH_PREVIOUS, WATCH_SCHEDULED, WATCH_COLUMNS };

struct watch_options {
    const char *program; /* a command line for the shell; NULL: `pid` runs already */
    int64_t pid;         /* 0: the program is started */
    const char *by;      /* what begins and ends a step, as it was asked for */
    const char *thread;  /* the name or the number of the only thread that is watched; NULL: any */
    bool from_outside;   /* and so: */
    char words[WATCH_BY_BYTES]; /* of `by`, which `wish` is about */
    struct outside_wish wish;
    int64_t period_ns;   /* 0: not known */
    int64_t duration_ns; /* of the recorded part */
    int64_t warmup;      /* steps of each loop before it */
    int64_t loops;       /* so many are waited for */
    int policy;          /* enum os_policy; -1: the program's own */
    int32_t below_highest;
    int64_t priority;
    const char *cpus_text;
    int32_t cpu; /* or OS_CPU_ANY */
    struct conditions conditions;
};

/* Reads and checks; refusals are told. True to go on, otherwise `code` is the program's exit code. */
bool watch_options_read(struct watch_options *options, int argc, char **argv, int *code);
struct os_thread_attributes watch_attributes(const struct watch_options *options);
/* "parameters", "schedule" and "process" of the header. */
void watch_options_to_json(struct json *json, const struct watch_options *options, int64_t ring_rows);

/* One loop of the program, as it is read. */
struct watched {
    struct tautochrone_loop *loop;
    struct source *source;
    uint64_t read;
    uint64_t seen;         /* rows, those of the warm-up too */
    uint64_t first_k;      /* of the first recorded row, */
    uint64_t last_k;       /* and of the last one */
    uint64_t before_k;     /* of the row before, also of the warm-up */
    uint64_t origin_k;     /* of the first row at all, and */
    int64_t origin_ns;     /* its release: no row of the warm-up began earlier, as its number says */
    int64_t previous_ns;   /* the begin of the row before; NO_VALUE: there is none */
    uint64_t dropped_told;
    uint64_t dropped_before; /* of them, before anything was recorded */
    uint64_t backwards;    /* rows with no larger number than the one before */
    bool is_over;          /* a row came that is beyond the run */
    uint64_t open_k;       /* the step that was open at the last look, */
    uint64_t open_after;   /* behind so many others, */
    int64_t open_since_ns; /* and since when; 0: none was */
};

enum watch_end {
    WATCH_GOES_ON,
    WATCH_TIME_IS_UP,
    WATCH_STOPPED, /* by the user, or the output failed */
    WATCH_ENDED,   /* the program, by itself */
    WATCH_HANGS,   /* a step does not end */
    WATCH_SILENT,  /* no step begins any more */
};

struct watch_run {
    struct recorder recorder;
    const struct watch_options *options;
    char name[WATCH_NAME_BYTES]; /* of the program, for messages */
    struct step_program program;
    struct step_child child;
    struct step_ending ending;
    bool has_ended;
    bool is_left; /* it could not be ended, and goes on */
    struct outside outside;
    int64_t followed_ns; /* when its processes were last looked for */
    struct tautochrone_memory *memory;
    uint64_t rows; /* of each ring in it */
    struct watched loops[WATCH_LOOPS_LIMIT];
    uint32_t loop_count;
    int64_t from_ns;  /* when every loop was there */
    int64_t until_ns; /* the end of the recorded part; 0: it has not begun */
    enum watch_end end;
    bool is_late; /* the drain made no room in time: what it has none for is dropped, and counted */
    char failure[WATCH_WHY_BYTES];
};

/* The loop of this number in the memory; its rows follow it. */
struct tautochrone_loop *watch_loop(const struct watch_run *run, uint64_t number);
/* True from the end of the child on, which `ending` then tells. */
bool watch_has_ended(struct watch_run *run, int64_t wait_ns);
/* Asks the program to end, and ends it and all that it started where it does not. */
void watch_put_down(struct watch_run *run);
/* In a thread of its own: reads until the run is over, and ends the program. */
void watch_read(void *run);

/* Loops that have begun: the places that they have in the memory. From outside, a thread is one from its third step on. */
uint32_t watch_claimed(const struct watch_run *run, uint32_t places[WATCH_LOOPS_LIMIT]);
/* The program ended by itself: `failure`, unless it ended well. */
void watch_tell_end(struct watch_run *run, const char *when);
/* A loop's name may be anything, and another loop may have the same. */
void watch_name_source(struct watch_run *run, uint32_t number);
int watch_write_header(struct watch_run *run);
/* How it went, beside the rows. */
void watch_write_event(struct watch_run *run);
void watch_warn(const struct watch_run *run);

int experiment_watch(int argc, char **argv);

#endif
