/* A thread of somebody else's library takes on attributes of ours. */
#include "linux.h"
#include "status.h"

#include <pthread.h>
#include <sched.h>

/* The policy comes first, and as an ordinary one where a deadline is wanted: a thread that still has a deadline from
 * before may change neither its CPU nor, while the old one is promised, its promise. */
enum os_status os_thread_adopt(const struct os_thread_attributes *attributes)
{
    const struct sched_param parameter = {.sched_priority = linux_priority(attributes->policy, attributes->below_highest)};
    linux_thread_set_name(attributes->name);
    enum os_status status =
        os_status_from_errno(pthread_setschedparam(pthread_self(), linux_policy(attributes->policy), &parameter));
    if (status == OS_OK && attributes->cpu != OS_CPU_ANY) {
        status = linux_thread_set_cpu(attributes->cpu);
    }
    if (status == OS_OK && attributes->policy == OS_POLICY_DEADLINE) {
        status =
            linux_thread_set_deadline(attributes->runtime_ns, attributes->deadline_ns, attributes->period_ns);
    }
    return status;
}
