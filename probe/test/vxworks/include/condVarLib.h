/* A stand-in for VxWorks' header, for tests: what the port needs of it. */
#ifndef STAND_IN_CONDVARLIB_H
#define STAND_IN_CONDVARLIB_H

#include <semLib.h>

typedef struct condition *CONDVAR_ID;

#define CONDVAR_ID_NULL ((CONDVAR_ID)0)
#define CONDVAR_Q_PRIORITY 0x01

CONDVAR_ID condVarCreate(int options);
STATUS condVarSignal(CONDVAR_ID condition);
STATUS condVarWait(CONDVAR_ID condition, SEM_ID mutex, _Vx_ticks_t ticks);
STATUS condVarDelete(CONDVAR_ID condition);

#endif
