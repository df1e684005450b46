// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A stretch of known length with preemption or interrupts off, on the CPU of whoever asks: what makes a real-time
 * thread late on purpose, so that what finds such stretches can be tried.
 */
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/preempt.h>

#include "session.h"

static void spin(struct tautochrone_hold *hold)
{
	hold->begin_ns = ktime_get();
	do {
		cpu_relax();
		hold->end_ns = ktime_get();
	} while (hold->end_ns - hold->begin_ns < hold->length_ns);
}

int hold_cpu(struct tautochrone_hold *hold)
{
	unsigned long flags;

	if (hold->what >= TAUTOCHRONE_HOLDS || hold->reserved)
		return -EINVAL;
	if (hold->length_ns < 0 || hold->length_ns > TAUTOCHRONE_LONGEST_HOLD_NS)
		return -ERANGE;
	if (hold->what == TAUTOCHRONE_INTERRUPTS_OFF) {
		local_irq_save(flags);
		spin(hold);
		local_irq_restore(flags);
	} else {
		preempt_disable();
		spin(hold);
		preempt_enable();
	}
	return 0;
}
