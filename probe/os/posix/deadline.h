/* Linux's policy SCHED_DEADLINE. */
#ifndef TAUTO_POSIX_DEADLINE_H
#define TAUTO_POSIX_DEADLINE_H

#include "os/os.h"

#include <sched.h>

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

/* sched_setattr(2) has no wrapper in the C libraries of this age. */
struct deadline_attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns;
    uint64_t deadline_ns;
    uint64_t period_ns;
};

/* SIGXCPU came to the calling thread. True: because its budget was used up, which is counted. */
bool linux_budget_overrun(void);

#endif
