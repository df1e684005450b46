/* A child that runs code of which nothing is known: it can harm neither its parent nor what is not its own. */
#ifndef TAUTO_STEP_CHILD_H
#define TAUTO_STEP_CHILD_H

#include "os/os.h"

struct step_child {
    int64_t number; /* of the process; 0: there is none */
    int watched;    /* a descriptor of it; -1 where the system has none */
};

struct step_ending {
    bool by_signal;
    int value; /* the signal, or the exit code */
    const char *signal; /* its name; NULL: an exit code */
};

/* The memory at a whole page, as it is now, is shared with children from now on. */
enum os_status step_share(void *memory, size_t bytes);

/* Runs `live` in a child that ends when this process does. Before there are threads. */
enum os_status step_child_start(struct step_child *child, void (*live)(void *argument), void *argument);
/* The child's own: no file of this number or above stays open. */
void step_child_close_from(int first);
/* The child's own: away from the terminal, from the parent's files, output and signal handlers, from memory without end. */
void step_child_part(void);
/* The usual signal handlers, and none is blocked. False: an ended sleep and the system's watchdog stay what they are. */
void step_child_reset_signals(bool all);
/* The child's own, last: from now on it has no right that it does not need. */
enum os_status step_child_give_up_rights(void);
/* Policy and priority of the child's first thread. */
enum os_status step_child_rank(const struct step_child *child, const struct os_thread_attributes *attributes);
/* Ends a sleep of its first thread. */
void step_child_wake(const struct step_child *child);
/* Sleeps until it has ended, somebody interrupts, or the instant has come. True: it has ended. */
bool step_child_wait(struct step_child *child, int64_t instant_ns, struct step_ending *ending);
/* SIGKILL, wherever it runs. */
void step_child_kill(const struct step_child *child);
/* How long after that its end is waited for: what became another user's can't be killed, and is left to the system. */
extern const int64_t step_child_patience_ns;
/* Ends whatever it started and left behind, after its end. */
void step_child_sweep(void);
/* Who calls ends at once, without what a program does at its end. */
_Noreturn void step_child_end(int code, bool at_once);

#endif
