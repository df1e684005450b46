/* The system calls of the thread that runs the steps: each comes to us first, and we make it in its place. */
#ifndef TAUTO_STEP_DISPATCH_H
#define TAUTO_STEP_DISPATCH_H

#include <stdbool.h>

/* From the calling thread. False: `why` has the reason, text that stays. */
bool dispatch_open(const char **why);
/* From now on they come, or no longer do. */
void dispatch_begin(void);
void dispatch_end(void);
/* No signal that the model blocks or takes may be ours. */
void dispatch_keep_signal(void);

#endif
