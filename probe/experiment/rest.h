/* A real-time thread that is never left without work rests: everybody else on its CPU needs time, and the kernel's
 * watchdog ends what never waits. */
#ifndef TAUTO_REST_H
#define TAUTO_REST_H

#include "os/os.h"

struct rest {
    int64_t longest_ns; /* without rest; 0: it needs none */
    /* When it began to count, and what it had used and how often it had waited by then. */
    int64_t since_ns;
    int64_t used_ns;
    int64_t waits;
};

/* `budget_ns`: the watchdog's. */
struct rest rest_of(enum os_policy policy, int64_t budget_ns);
/* For the thread itself, after each piece of work. Where it has waited by itself, it goes on. */
void rest_when_due(struct rest *rest);

#endif
