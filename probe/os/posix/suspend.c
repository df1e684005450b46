/* POSIX has no call that suspends another thread, and neither has EVL. */
#include "native_thread.h"

intptr_t native_self(void)
{
    return -1;
}

enum os_status native_suspend(const struct native_thread *thread)
{
    (void)thread;
    return OS_UNSUPPORTED;
}

enum os_status native_resume(const struct native_thread *thread)
{
    (void)thread;
    return OS_UNSUPPORTED;
}
