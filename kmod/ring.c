// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "ring.h"

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

int ring_create(struct ring *ring, u32 rows)
{
	ring->records = vzalloc(array_size(rows, sizeof(*ring->records)));
	ring->rows = rows;
	ring->written = 0;
	ring->read = 0;
	return ring->records ? 0 : -ENOMEM;
}

void ring_destroy(struct ring *ring)
{
	vfree(ring->records);
	ring->records = NULL;
}

static struct tautochrone_record *record_at(const struct ring *ring, u64 index, u32 *place)
{
	div_u64_rem(index, ring->rows, place);
	return &ring->records[*place];
}

bool ring_write(struct ring *ring, s64 k, const s64 *instants, unsigned int count)
{
	struct tautochrone_record *record;
	u32 place;

	if (ring->written - smp_load_acquire(&ring->read) >= ring->rows)
		return false;
	record = record_at(ring, ring->written, &place);
	record->k = k;
	memcpy(record->instants, instants, count * sizeof(*instants));
	smp_store_release(&ring->written, ring->written + 1);
	return true;
}

ssize_t ring_read(struct ring *ring, char __user *to, size_t bytes)
{
	u64 left = min_t(u64, bytes / sizeof(*ring->records), smp_load_acquire(&ring->written) - ring->read);
	size_t copied = 0;

	while (left) {
		u32 place;
		const struct tautochrone_record *from = record_at(ring, ring->read, &place);
		u32 count = min_t(u64, left, ring->rows - place);

		if (copy_to_user(to + copied, from, count * sizeof(*from)))
			return copied ? copied : -EFAULT;
		smp_store_release(&ring->read, ring->read + count);
		copied += count * sizeof(*from);
		left -= count;
	}
	return copied;
}
