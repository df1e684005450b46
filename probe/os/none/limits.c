/* A system without real-time throttling, and without a limit on the idle CPUs' wake-up that a program can ask for. */
#include "os/ordinary.h"

enum os_status os_realtime_share(int64_t *runtime_ns, int64_t *period_ns)
{
    (void)runtime_ns;
    (void)period_ns;
    return OS_UNSUPPORTED;
}

enum os_status os_wake_latency_limit(int32_t limit_us)
{
    (void)limit_us;
    return OS_UNSUPPORTED;
}

int64_t os_wake_latency_limit_in_force_us(void)
{
    return INT64_MIN;
}
