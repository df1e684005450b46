/* A stand-in for VxWorks' header, for tests: what the port needs of it. */
#ifndef STAND_IN_SYSLIB_H
#define STAND_IN_SYSLIB_H

int sysClkRateGet(void);

#endif
