/* The measuring clock, and sleeping by it: RTAI's, which either side may read. */
#include "os/realtime.h"

#include <rtai_lxrt.h>

int64_t os_now_ns(void)
{
    return (int64_t)rt_get_time_ns();
}

int64_t os_sleep_until_and_read(int64_t instant_ns)
{
    (void)rt_sleep_until(nano2count(instant_ns));
    return (int64_t)rt_get_time_ns();
}
