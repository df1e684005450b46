/* Page faults of the thread that runs the steps, each with its instruction: of the step's own, not in system calls. */
#ifndef TAUTO_STEP_FAULTS_H
#define TAUTO_STEP_FAULTS_H

#include <stdbool.h>

/* Of the calling thread. False: `why` has the reason, text that stays. */
bool faults_open(const char **why);
/* Those so far are of no step. */
void faults_begin(void);
/* Those since then are noted, or lost where they were too many. */
void faults_end(void);

#endif
