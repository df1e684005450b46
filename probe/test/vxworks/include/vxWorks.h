/* A stand-in for VxWorks' header, for tests: what the port needs of it. */
#ifndef STAND_IN_VXWORKS_H
#define STAND_IN_VXWORKS_H

typedef int STATUS;
typedef unsigned _Vx_ticks_t;

#define OK 0
#define ERROR (-1)
#define WAIT_FOREVER ((_Vx_ticks_t)-1)

#endif
