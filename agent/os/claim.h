/* A claim on this machine, which one process at a time has: the kernel takes it back when that process ends, however. */
#ifndef TAUTO_CLAIM_H
#define TAUTO_CLAIM_H

#include "os/os.h"

#include <stdbool.h>

struct os_claim {
    int file;
    long holder_pid; /* of whoever has it; 0: in a container, where it has a number that means nothing here */
    long holder_uid;
};

/* OS_OK: it is this process's until it ends. OS_IN_USE: `claim` has who has it, and is to be waited for; without a `file`
 * whoever has it does not say who it is, and won't be heard ending. */
enum os_status os_claim_take(struct os_claim *claim, const char *name);
/* Sleeps until whoever has it ends, standard input has ended, this process was asked to stop, or the instant; with one
 * that is this process's own, until one of the other three. Returns whether this process is still to wait: its input
 * has not ended, and nobody asked it to stop. */
bool os_claim_wait(const struct os_claim *claim, int64_t instant_ns);
void os_claim_release(struct os_claim *claim);

#endif
