/*
 * A program that marks nothing is watched from outside: the kernel runs small programs (BPF) where its threads begin and end a
 * sleep, or come by its USDT probes. They write the same rows into the same memory as tautochrone_loop.h does, so that whoever
 * reads it sees no difference.
 */
#ifndef TAUTO_STEP_OUTSIDE_H
#define TAUTO_STEP_OUTSIDE_H

#include "os/os.h"

enum { OUTSIDE_NAME_BYTES = 16, OUTSIDE_LINKS_LIMIT = 32, OUTSIDE_FILES_LIMIT = 256, OUTSIDE_PROCESSES = 16 };

/* What ends a step, and what begins the next one. */
enum outside_way {
    OUTSIDE_SLEEP, /* nanosleep, clock_nanosleep: the release is the instant that an absolute one was asked for */
    OUTSIDE_CALL,  /* another system call, in which it waits */
    OUTSIDE_PROBES,
};

struct outside_wish {
    enum outside_way way;
    const char *call;           /* its name; of OUTSIDE_CALL */
    const char *provider;       /* of OUTSIDE_PROBES */
    const char *begin;          /* its arguments are the step's number and its release, where it has some */
    const char *end;
    int64_t thread;             /* only this one; 0: any */
    const char *thread_name;    /* only threads of this name; NULL: any */
    uint64_t rows;              /* of each loop; a power of two */
    uint32_t loops;
};

struct outside {
    struct outside_wish wish;
    int map;
    void *mapped;
    size_t bytes;
    int links[OUTSIDE_LINKS_LIMIT];
    uint32_t link_count;
    uint32_t begins; /* probes that are watched, */
    uint32_t ends;
    uint64_t files[OUTSIDE_FILES_LIMIT]; /* that were looked through for them */
    uint32_t file_count;
    int watched; /* a descriptor of a process that is not ours; -1: none */
    int error; /* errno of the last thing that was refused; 0: none was */
};

/* `*memory` is as tautochrone_loop.h has it, but for `magic`, `loops` and `rows`. When the answer is not OS_PRESENT, nothing
 * was begun. All of it ends with this process, whichever way that ends. */
struct os_answer outside_open(struct outside *outside, const struct outside_wish *wish, void **memory);
/* The process and its descendants, as many as there is place for, are those that are watched from now on; their files are looked
 * through for probes. */
void outside_follow(struct outside *outside, int64_t process);
/* Why nothing is seen, or OS_PRESENT. */
struct os_answer outside_sees(const struct outside *outside);
/* Looks at a process that is not a child of ours. False: there is none. */
bool outside_take(struct outside *outside, int64_t process, char name[OUTSIDE_NAME_BYTES]);
/* How a thread is called by now; `name` stays what it is where there is none. */
void outside_name(uint64_t process, uint64_t thread, char name[OUTSIDE_NAME_BYTES]);
/* Sleeps until it has ended, somebody interrupts, or the time is over. True: it has ended. */
bool outside_has_ended(const struct outside *outside, int64_t wait_ns);
/* No row is written any more. */
void outside_stop(struct outside *outside);
void outside_close(struct outside *outside);

#endif
