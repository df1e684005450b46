/* No timer that a real-time thread of this system could wait for. */
#include "os/timer.h"

struct os_answer os_timer_create(struct os_timer **timer)
{
    (void)timer;
    return (struct os_answer){OS_ABSENT, "the probe knows no periodic timer of this system"};
}

void os_timer_destroy(struct os_timer *timer)
{
    (void)timer;
}

enum os_status os_timer_start(struct os_timer *timer, int64_t first_ns, int64_t period_ns)
{
    (void)timer;
    (void)first_ns;
    (void)period_ns;
    return OS_UNSUPPORTED;
}

int64_t os_timer_wait_and_read(struct os_timer *timer)
{
    (void)timer;
    return os_now_ns();
}
