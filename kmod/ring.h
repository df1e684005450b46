/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Records between one writer (task 1) and one reader (who holds the session's lock). The writer neither waits nor
 * wakes anybody; a record that finds the ring full is not kept, and the caller counts it.
 */
#ifndef TAUTOCHRONE_RING_H
#define TAUTOCHRONE_RING_H

#include <linux/types.h>

#include "tautochrone.h"

#define RING_ROWS_LIMIT	(1u << 20)	/* 48 MiB */

struct ring {
	struct tautochrone_record *records;	/* kernel memory: touched when it was made, never paged out */
	u32 rows;
	u64 written;
	u64 read;
};

int ring_create(struct ring *ring, u32 rows);
void ring_destroy(struct ring *ring);

/* False: it is full. */
bool ring_write(struct ring *ring, s64 k, const s64 *instants, unsigned int count);

/* As many whole records as are there and fit. Bytes, or -EFAULT. */
ssize_t ring_read(struct ring *ring, char __user *to, size_t bytes);

#endif
