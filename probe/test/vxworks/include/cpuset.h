/* A stand-in for VxWorks' header, for tests: what the port needs of it. */
#ifndef STAND_IN_CPUSET_H
#define STAND_IN_CPUSET_H

typedef unsigned cpuset_t;

#define CPUSET_ZERO(set) ((set) = 0)
#define CPUSET_SET(set, cpu) ((set) |= 1U << (cpu))
#define CPUSET_ISSET(set, cpu) (((set) & (1U << (cpu))) != 0)

#endif
