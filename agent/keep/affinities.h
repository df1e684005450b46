/* The CPUs of threads: as the journal has them, given back when everything else is put back. */
#ifndef TAUTO_AFFINITIES_H
#define TAUTO_AFFINITIES_H

#include "keep/journal.h"
#include "os/fault.h"

/* Why one step could not be put back. */
typedef void (*affinity_trouble)(void *argument, const char *step, enum os_fault fault);

/* Gives each thread that still lives the CPUs of the first step that names it. What the system refuses, or takes back
 * a moment later (some kernels divide the CPUs only after the call that brings one on line has returned), is tried
 * again for a while; all of them share that patience. Where `done` is not NULL, each step of affinity is marked. */
enum os_fault affinities_put_back(const struct journal *journal, bool *done, affinity_trouble tell, void *argument);

/* To be asked while a deployment is in force: where the system let a thread out of the CPUs that it was pinned to, it
 * is pinned again, as far as these CPUs are still there for it. Kernels before 6.2 let all threads out whose control
 * group gets CPUs of its own. */
enum os_fault affinities_pin_again(const struct journal *journal);

/* Is this a step of that kind? */
bool affinities_have(const char *step);

#endif
