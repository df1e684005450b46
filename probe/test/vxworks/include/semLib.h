/* A stand-in for VxWorks' header, for tests: what the port needs of it. */
#ifndef STAND_IN_SEMLIB_H
#define STAND_IN_SEMLIB_H

#include <vxWorks.h>

typedef struct semaphore *SEM_ID;

#define SEM_ID_NULL ((SEM_ID)0)
#define SEM_Q_PRIORITY 0x01
#define SEM_INVERSION_SAFE 0x08
#define SEM_INTERRUPTIBLE 0x20

SEM_ID semMCreate(int options);
SEM_ID semCCreate(int options, int initial);
STATUS semTake(SEM_ID sem, _Vx_ticks_t ticks);
STATUS semGive(SEM_ID sem);
STATUS semDelete(SEM_ID sem);

#endif
