/* Where a system's timers count from now, what was programmed is not what was asked for, and both are recorded. */
#ifndef TAUTO_PROGRAMMED_H
#define TAUTO_PROGRAMMED_H

#include "os/both.h"

/* ---- Real-time side ---------------------------------------------------------- */

/* For which instant the timer of the calling thread's last sleep was programmed: the time that was left, counted from when
 * the timer had been set, so it is due by then at the latest. INT64_MIN: no timer was needed, or timers take the very
 * instant here (OS_SERVICE_ABSOLUTE_SLEEP). */
int64_t os_sleep_programmed_ns(void);

#endif
