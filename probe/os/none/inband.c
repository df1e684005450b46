/* One domain only: no thread can leave it, and there is nothing to watch. */
#include "os/realtime.h"

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
