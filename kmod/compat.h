/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What is called differently in the kernels that the module is built for. */
#ifndef TAUTOCHRONE_COMPAT_H
#define TAUTOCHRONE_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif
