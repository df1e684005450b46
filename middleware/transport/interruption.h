/* A wait that a signal interrupts is begun anew, and with it all of its patience: where signals come again and again, as
 * at the end of a run, it would never be over. From the first interruption on, the clock decides. */
#ifndef TAUTO_INTERRUPTION_H
#define TAUTO_INTERRUPTION_H

#include "os/os.h"

struct interruption {
    int64_t patience_ns; /* 0: there is no end to it */
    int64_t give_up_ns;  /* 0: not interrupted yet */
};

/* The wait was interrupted, and has lasted long enough. */
static inline bool interruption_ends_wait(struct interruption *interruption)
{
    if (interruption->patience_ns == 0) {
        return false;
    }
    const int64_t now_ns = os_now_ns();
    if (interruption->give_up_ns == 0) {
        interruption->give_up_ns = now_ns + interruption->patience_ns;
    }
    return now_ns >= interruption->give_up_ns;
}

#endif
