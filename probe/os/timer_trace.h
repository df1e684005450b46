/*
 * When the handler of a timer began, as the system itself tells it at its timer interrupt, where it does and lets this
 * user listen. Telling and asking are plain reads and writes of memory that is shared with the system: no call.
 */
#ifndef TAUTO_TIMER_TRACE_H
#define TAUTO_TIMER_TRACE_H

#include "os/os.h"

struct os_timer_trace;

/* Ways to listen, the one that disturbs least first. A system may have the first and yet tell nothing by it: try it. */
enum os_timer_trace_way { OS_TIMER_TRACE_DIRECT, OS_TIMER_TRACE_USUAL };
const char *os_timer_trace_name(enum os_timer_trace_way way);

/* Listens to all timers of the system, on every CPU. When the answer is not OS_PRESENT nothing was begun, and `why`
 * says what to enable. For one sleeping thread at a time. */
struct os_answer os_timer_trace_open(struct os_timer_trace **trace, enum os_timer_trace_way way);
/* NULL is allowed. */
void os_timer_trace_close(struct os_timer_trace *trace);

/* ---- Real-time side ---------------------------------------------------------- */

/* The calling thread is about to sleep until `expiry_ns`. */
void os_timer_trace_expect(struct os_timer_trace *trace, int64_t expiry_ns);
/* After that sleep: the first reading of the clock (the one of os_now_ns) by the handler of its timer, INT64_MIN where
 * the system did not tell. */
int64_t os_timer_trace_handler_ns(const struct os_timer_trace *trace);

#endif
