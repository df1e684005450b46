/* What QNX has beside POSIX: names and run masks of threads, and the CPUs (posix/linux.h, "the one place to fill in"). */
#define _GNU_SOURCE /* pthread_setname_np */
#include "os/posix/linux.h"
#include "os/identity.h"

#include "os/posix/status.h"

#include <errno.h>
#include <pthread.h>
#include <sys/neutrino.h>
#include <sys/syspage.h>

enum { CPUS_OF_A_MASK = 32 };

int64_t os_thread_number(void)
{
    return (int64_t)pthread_self();
}

void linux_thread_set_name(const char *name)
{
    if (name != NULL) {
        (void)pthread_setname_np(pthread_self(), name);
    }
}

/* A thread sets its own mask only. */
enum os_status linux_thread_set_cpu(int32_t cpu)
{
    void *const mask = (void *)(uintptr_t)(1U << cpu); /* NOLINT(performance-no-int-to-ptr): as ThreadCtl() wants it */
    if (cpu < 0 || cpu >= os_cpu_limit()) {
        return OS_INVALID;
    }
    return ThreadCtl(_NTO_TCTL_RUNMASK, mask) != -1 ? OS_OK : os_status_from_errno(errno);
}

/* To set nothing is to ask. */
int64_t alone_mask_of_cpus(void)
{
    unsigned mask = 0;
    return ThreadCtl(_NTO_TCTL_RUNMASK_GET_AND_SET, &mask) != -1 ? (int64_t)mask : INT64_MIN;
}

int32_t os_cpu_limit(void)
{
    const int32_t cpus = (int32_t)_syspage_ptr->num_cpu;
    return cpus < CPUS_OF_A_MASK ? cpus : CPUS_OF_A_MASK;
}
