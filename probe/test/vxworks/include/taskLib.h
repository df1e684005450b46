/* A stand-in for VxWorks' header, for tests: what the port needs of it. */
#ifndef STAND_IN_TASKLIB_H
#define STAND_IN_TASKLIB_H

#include <cpuset.h>
#include <vxWorks.h>

typedef long TASK_ID;

TASK_ID taskIdSelf(void);
STATUS taskSuspend(TASK_ID task);
STATUS taskResume(TASK_ID task);
STATUS taskCpuAffinitySet(TASK_ID task, cpuset_t cpus);
STATUS taskCpuAffinityGet(TASK_ID task, cpuset_t *cpus);

#endif
