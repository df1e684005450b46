/* A stand-in for Xenomai's header, for tests: what the port needs of it. */
#ifndef STAND_IN_COBALT_TIME_H
#define STAND_IN_COBALT_TIME_H

#include_next <time.h>

#define __STD(call) __real_##call

int __real_nanosleep(const struct timespec *, struct timespec *);
int __real_clock_gettime(clockid_t, struct timespec *);

#endif
