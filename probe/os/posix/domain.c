/* Linux without a core: what a service answers there. */
#include "domain.h"

#include "os/realtime.h"

enum os_status os_system_begin(const char **why)
{
    *why = "";
    return OS_OK;
}

bool domain_answers(enum os_service service, struct os_answer *answer)
{
    if (service == OS_SERVICE_INBAND_SWITCHES) {
        *answer = (struct os_answer){OS_ABSENT, "this system has one domain only, which no thread can leave"};
        return true;
    }
    if (service == OS_SERVICE_SUSPEND_RESUME) {
        *answer = (struct os_answer){OS_ABSENT, "POSIX has no call that suspends another thread"};
        return true;
    }
    return false;
}

void domain_facts_read(struct os_facts *facts)
{
    (void)facts;
}
