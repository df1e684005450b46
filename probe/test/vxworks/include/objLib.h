/* A stand-in for VxWorks' header, for tests: what the port needs of it. */
#ifndef STAND_IN_OBJLIB_H
#define STAND_IN_OBJLIB_H

#define S_objLib_OBJ_TIMEOUT 0x3d0004

#endif
