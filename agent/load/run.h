#ifndef TAUTO_LOAD_RUN_H
#define TAUTO_LOAD_RUN_H

#include "load/load.h"

/* Starts the threads of a load that is prepared, says "running", waits for the end, reports. Returns an exit code. */
int load_run_threads(struct load_run *run);

#endif
