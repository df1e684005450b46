/* One domain only: a thread can't leave it, and there is nothing to watch. */
#include "domain.h"

#include "os/realtime.h"

struct os_answer domain_inband_switches(void)
{
    return (struct os_answer){OS_ABSENT, "this system has one domain only, which no thread can leave"};
}

enum os_status os_thread_watch_inband(os_inband_note note, void *argument)
{
    (void)note;
    (void)argument;
    return OS_UNSUPPORTED;
}

void os_thread_go_ordinary(void)
{
}

void os_thread_go_realtime(void)
{
}
