/* Where the waiters of a barrier sleep: the port chooses how (linux/barrier_futex.c, posix/barrier_condition.c). */
#ifndef TAUTO_POSIX_BARRIER_BED_H
#define TAUTO_POSIX_BARRIER_BED_H

#include "os/both.h"

#include <stdatomic.h>

struct barrier_bed;
enum os_status barrier_bed_make(struct barrier_bed **bed);
/* NULL is allowed. */
void barrier_bed_unmake(struct barrier_bed *bed);
/* As long as `*round` is `seen`. */
void barrier_bed_sleep(struct barrier_bed *bed, atomic_uint *round, unsigned seen);
/* Wakes all, after `*round` has changed. */
void barrier_bed_wake(struct barrier_bed *bed, atomic_uint *round);

#endif
