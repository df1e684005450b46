/* What is the same in every port: names, and what follows from what the port says. */
#include "os/ordinary.h"

static const char *const names[OS_SERVICE_COUNT] = {
    [OS_SERVICE_POLICY_FIFO] = "policy fifo",
    [OS_SERVICE_POLICY_RR] = "policy rr",
    [OS_SERVICE_POLICY_DEADLINE] = "policy deadline",
    [OS_SERVICE_AFFINITY] = "affinity",
    [OS_SERVICE_ABSOLUTE_SLEEP] = "absolute sleep",
    [OS_SERVICE_MUTEX] = "mutex",
    [OS_SERVICE_MUTEX_INHERIT] = "mutex with priority inheritance",
    [OS_SERVICE_MUTEX_PROTECT] = "mutex with priority ceiling",
    [OS_SERVICE_SEMAPHORE] = "semaphore",
    [OS_SERVICE_SPIN_LOCK] = "spin lock",
    [OS_SERVICE_RW_LOCK] = "read-write lock",
    [OS_SERVICE_CONDITION] = "condition variable",
    [OS_SERVICE_FIFO] = "fifo",
    [OS_SERVICE_MESSAGE_QUEUE] = "message queue",
    [OS_SERVICE_YIELD] = "yield",
    [OS_SERVICE_SUSPEND_RESUME] = "suspend and resume another thread",
    [OS_SERVICE_MEMORY_LOCK] = "memory lock",
    [OS_SERVICE_WAKE_LATENCY_LIMIT] = "limit on the wake-up latency of idle CPUs",
    [OS_SERVICE_THREAD_CPU_TIME] = "CPU time of a thread",
    [OS_SERVICE_INTERRUPTION] = "interruption of a sleeping thread",
    [OS_SERVICE_INBAND_SWITCHES] = "in-band switches counted",
};

const char *os_service_name(enum os_service service)
{
    return names[service];
}

enum os_policy os_usual_policy(void)
{
    return os_priority_levels(OS_POLICY_FIFO) > 0 ? OS_POLICY_FIFO : OS_POLICY_RR;
}
