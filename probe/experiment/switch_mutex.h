/* Switch: a mutex handed over to a thread that waits for it, and the same mutex when nobody wants it. */
#ifndef TAUTO_SWITCH_MUTEX_H
#define TAUTO_SWITCH_MUTEX_H

#include "experiment/pairs.h"

/* The context of a stage; the first member is the pair. */
struct handover {
    struct pair pair;
    struct os_mutex *mutex;
};

void handover_high(struct stage *stage); /* measures */
void handover_low(struct stage *stage);

void mutex_alone(struct stage *stage);
/* Two readings and nothing between them: what every interval contains of the clock. */
void clock_alone(struct stage *stage);

#endif
