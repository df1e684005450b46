/* The priority that an experiment's most urgent thread gets. */
#ifndef TAUTO_PRIORITY_H
#define TAUTO_PRIORITY_H

#include "os/os.h"

/* `priority` is the system's own number: as it was given, or else the usual one (9 below the highest: 90 on Linux), or 0
 * where the policy has none. `levels` is how many priorities the experiment needs, from that one downward. False after
 * telling what is wrong. */
bool priority_choose(enum os_policy policy, bool given, int32_t levels, int64_t *priority, int32_t *below_highest);

/* A measuring thread can't be had with them. Returns the program's exit code. */
int priority_refuse_thread(enum os_policy policy, int64_t priority, enum os_status status);

#endif
