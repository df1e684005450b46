/* Suspending another thread of this process: ThreadCtl(), commands of QNX. */
#include "os/posix/native_thread.h"

#include "os/posix/status.h"

#include <errno.h>
#include <sys/neutrino.h>

/* On QNX a thread is the number that the kernel has for it. */
intptr_t native_self(void)
{
    return (intptr_t)pthread_self();
}

static enum os_status order(int command, const struct native_thread *thread)
{
    void *const number = (void *)thread->element; /* NOLINT(performance-no-int-to-ptr): as ThreadCtl() wants it */
    return ThreadCtl(command, number) != -1 ? OS_OK : os_status_from_errno(errno);
}

enum os_status native_suspend(const struct native_thread *thread)
{
    return order(_NTO_TCTL_ONE_THREAD_HOLD, thread);
}

enum os_status native_resume(const struct native_thread *thread)
{
    return order(_NTO_TCTL_ONE_THREAD_CONT, thread);
}
