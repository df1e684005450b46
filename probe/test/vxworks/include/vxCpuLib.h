/* A stand-in for VxWorks' header, for tests: what the port needs of it. */
#ifndef STAND_IN_VXCPULIB_H
#define STAND_IN_VXCPULIB_H

unsigned vxCpuConfiguredGet(void);

#endif
