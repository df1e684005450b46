/*
 * A program's warden: a small process between the program and its starter. All that the program starts becomes the
 * warden's when its own parent ends (PR_SET_CHILD_SUBREAPER), also what left the process group; so the warden finds and
 * ends all of it, and the starter's own children are nobody else's business. The starter may die of SIGKILL: the
 * pipe `control` is then at its end, and the warden does its work.
 */
#ifndef TAUTO_POSIX_PROCESS_WARDEN_H
#define TAUTO_POSIX_PROCESS_WARDEN_H

#include "os/process.h"

/* What the starter writes into `control`. Its end means: kill all, then end. */
enum warden_order { WARDEN_END = 'e', WARDEN_KILL = 'k' };

/* What went wrong before the program ran; comes through `trouble`, which otherwise just ends. */
struct warden_trouble {
    int error; /* errno */
    size_t failed_join;
};

struct warden {
    const struct os_process_attributes *attributes;
    int control; /* read: orders */
    int status;  /* write: the program's exit code, one int */
    int trouble; /* write: struct warden_trouble */
    int input;   /* read: the program's standard input, or -1 */
};

/* In the freshly forked process; all other files are closed, and it never returns. */
_Noreturn void warden_run(const struct warden *warden);

#endif
