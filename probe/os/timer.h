/* A timer of the system that fires again and again, at absolute instants, and that a thread waits for. */
#ifndef TAUTO_TIMER_H
#define TAUTO_TIMER_H

#include "os/os.h"

struct os_timer;

/* ---- Ordinary side ----------------------------------------------------------- */

struct os_answer os_timer_create(struct os_timer **timer);
void os_timer_destroy(struct os_timer *timer);
/* It fires at `first_ns` of the measuring clock, then every `period_ns`. */
enum os_status os_timer_start(struct os_timer *timer, int64_t first_ns, int64_t period_ns);

/* ---- Real-time side ---------------------------------------------------------- */

/* Waits until it fires, at once where it has since the last wait, and reads the clock as the very next thing. Returns that
 * reading, also where the wait was ended early. */
int64_t os_timer_wait_and_read(struct os_timer *timer);

#endif
