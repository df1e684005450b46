/* From a task of RTAI's to Linux's side: a count in memory, at which the other side looks every millisecond. */
#include "os/os.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { LOOK_EVERY_NS = 1000000 };

struct os_notice {
    atomic_uint posted;
};

enum os_status os_notice_create(struct os_notice **notice)
{
    *notice = calloc(1, sizeof **notice);
    return *notice != NULL ? OS_OK : OS_NO_MEMORY;
}

void os_notice_destroy(struct os_notice *notice)
{
    free(notice);
}

enum os_status os_notice_post(struct os_notice *notice)
{
    atomic_fetch_add(&notice->posted, 1);
    return OS_OK;
}

/* One side waits for a notice, so nobody takes what this one has seen. */
enum os_status os_notice_wait_for(struct os_notice *notice, int64_t timeout_ns)
{
    const int64_t end_ns = os_now_ns() + timeout_ns;
    while (atomic_load(&notice->posted) == 0) {
        const int64_t now_ns = os_now_ns();
        if (now_ns >= end_ns) {
            return OS_TIMED_OUT;
        }
        (void)os_sleep_until(end_ns - now_ns < LOOK_EVERY_NS ? end_ns : now_ns + LOOK_EVERY_NS);
    }
    atomic_fetch_sub(&notice->posted, 1);
    return OS_OK;
}
