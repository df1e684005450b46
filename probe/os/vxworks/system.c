/* What VxWorks has beside POSIX, in a real-time process: the CPUs of a task (posix/linux.h, "the one place to fill in"). */
#include "os/posix/linux.h"
#include "os/identity.h"

#include <vxWorks.h> /* before all others of its headers */

#include <cpuset.h>
#include <taskLib.h>
#include <vxCpuLib.h>

enum { SELF = 0, CPUS_OF_A_MASK = 32 };

int64_t os_thread_number(void)
{
    return (int64_t)(intptr_t)taskIdSelf();
}

/* A task gets its name when it is made, and no other. */
void linux_thread_set_name(const char *name)
{
    (void)name;
}

enum os_status linux_thread_set_cpu(int32_t cpu)
{
    cpuset_t cpus;
    if (cpu < 0 || cpu >= os_cpu_limit()) {
        return OS_INVALID;
    }
    CPUSET_ZERO(cpus);
    CPUSET_SET(cpus, (unsigned)cpu);
    return taskCpuAffinitySet(SELF, cpus) == OK ? OS_OK : OS_UNSUPPORTED; /* one without SMP has no affinity */
}

/* An empty set is that of a task without affinity. */
int64_t alone_mask_of_cpus(void)
{
    cpuset_t cpus;
    int64_t mask = 0;
    CPUSET_ZERO(cpus);
    if (taskCpuAffinityGet(SELF, &cpus) != OK) {
        return INT64_MIN;
    }
    for (int32_t cpu = 0; cpu < os_cpu_limit(); cpu++) {
        mask |= CPUSET_ISSET(cpus, (unsigned)cpu) ? INT64_C(1) << cpu : 0;
    }
    return mask != 0 ? mask : (INT64_C(1) << os_cpu_limit()) - 1;
}

int32_t os_cpu_limit(void)
{
    const int32_t cpus = (int32_t)vxCpuConfiguredGet();
    return cpus < CPUS_OF_A_MASK ? cpus : CPUS_OF_A_MASK;
}
