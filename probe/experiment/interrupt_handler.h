/* How `interrupt` makes sure that it comes to know when the timer's handler began. */
#ifndef TAUTO_INTERRUPT_HANDLER_H
#define TAUTO_INTERRUPT_HANDLER_H

#include "experiment/stage_options.h"
#include "os/timer_trace.h"

/* Begins to listen, in the first way that works, and has a thread like the measuring one sleep a few times to see that its timers are noticed.
 * Returns the exit code of the program; refusals are told. */
int handler_trace_open(struct os_timer_trace **trace, enum os_timer_trace_way *way, const struct stage_options *stage);

/* After the run: says so where `unseen` samples have no handler's time stamp, and what the longest preemption latency
 * among them was. */
void handler_tell_unseen(uint64_t unseen, int64_t worst_ns);

#endif
