/* Suspending another task: taskLib. A pthread is a task, by whose id it is known here. */
#include "os/posix/native_thread.h"

#include <vxWorks.h> /* before all others of its headers */

#include <taskLib.h>

intptr_t native_self(void)
{
    return (intptr_t)taskIdSelf();
}

enum os_status native_suspend(const struct native_thread *thread)
{
    return taskSuspend((TASK_ID)thread->element) == OK ? OS_OK : OS_FAILED;
}

enum os_status native_resume(const struct native_thread *thread)
{
    return taskResume((TASK_ID)thread->element) == OK ? OS_OK : OS_FAILED;
}
