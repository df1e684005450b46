/* Switch: a thread that another one resumes, and that suspends itself again at once. */
#ifndef TAUTO_SWITCH_SUSPEND_H
#define TAUTO_SWITCH_SUSPEND_H

#include "experiment/pairs.h"

/* The context of a stage; the first member is the pair. */
struct suspension {
    struct pair pair;
    _Atomic uint64_t resumed; /* how often the other one was */
    _Atomic bool left;        /* it is past its last suspension */
};

/* The measuring one is below the other. */
void suspend_low(struct stage *stage);
void suspend_high(struct stage *stage);

/* The same call, of a thread that has nothing to do and is below: no switch. */
void suspend_alone(struct stage *stage);
void suspend_idle(struct stage *stage);

#endif
