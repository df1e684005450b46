/*
 * Shows a tire to another machine while it moves: at most 100 UDP datagrams a second, from an ordinary thread.
 * docs/tire-view.md has their layout.
 *
 * The solver never waits for it. The sender asks for a state by setting one flag; the last of the solver's threads to
 * finish a step sees the flag while the others are held at their barrier, copies at most 160 positions and takes the
 * flag down: so nobody reads what somebody writes, however long the sender is kept from its CPU, and no copy is ever
 * torn, tried again or thrown away. It happens after the end of the step was stamped, and only while there is time
 * until the next release: where a step leaves no such time, the numbers go out with the positions of an earlier step.
 * A step whose state nobody asks for pays one look at the flag.
 */
#ifndef TAUTO_TIRE_LIVE_H
#define TAUTO_TIRE_LIVE_H

#include "tire/solver.h"

enum {
    LIVE_HOST_BYTES = 64,
    LIVE_MOST_POSITIONS = 160,
    LIVE_HEADER_BYTES = 112,
    LIVE_MOST_BYTES = LIVE_HEADER_BYTES + 8 * LIVE_MOST_POSITIONS, /* goes through any network in one piece */
};

struct live_destination {
    char host[LIVE_HOST_BYTES];
    uint16_t port;
};

/* "10.0.0.2:5005", "[::1]:5005"; numbers, not names. False: it is not of this form. */
bool live_destination_read(const char *text, struct live_destination *destination);

struct live_options {
    struct live_destination to;
    const struct tire *tire;
    int64_t nodes;
    double radius_m;
    enum tire_solver_kind solver;
    uint32_t threads;
    int64_t period_ns;
    const int32_t *measured_cpus; /* the sender keeps off them, if there are others */
    uint32_t measured_cpu_count;
};

/* One step, when it is done. */
struct live_step {
    uint64_t steps;       /* done so far: the state is the one after so many */
    uint64_t released;    /* so far, with those that were passed over */
    uint64_t missed;      /* deadlines, so far */
    int64_t scheduled_ns; /* its release */
    int64_t dispatch_ns;  /* T_i: until the last of the threads had started */
    int64_t step_ns;      /* T_s: from the first thread's start to its end */
    int64_t next_ns;      /* the release that comes next */
};

struct live;

/* Sends the tire as it is before its first step, and goes on until live_close. OS_INVALID, OS_UNREACHABLE: the
 * destination; OS_NO_MEMORY. */
enum os_status live_open(struct live **live, const struct live_options *options);

/* To be called behind every step by the thread that came last, while the others are held. Never waits, makes no system
 * call; the clock is read when a state is asked for. */
void live_note(struct live *live, const struct live_step *step);

struct live_counts {
    uint64_t sent;
    uint64_t unsent; /* given to the system, which did not take them */
    enum os_status why;
};

/* When no thread is in a step any more: sends how it ended, then that it is over. May be given NULL. */
struct live_counts live_close(struct live *live);

#endif
