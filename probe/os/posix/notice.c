/* A notice is a semaphore here, where both sides wait alike. */
#include "os/os.h"

#include <stdlib.h>

struct os_notice {
    struct os_semaphore *posted;
};

enum os_status os_notice_create(struct os_notice **notice)
{
    struct os_notice *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    const enum os_status status = os_semaphore_create(&made->posted, 0);
    if (status != OS_OK) {
        free(made);
        return status;
    }
    *notice = made;
    return OS_OK;
}

void os_notice_destroy(struct os_notice *notice)
{
    if (notice != NULL) {
        os_semaphore_destroy(notice->posted);
        free(notice);
    }
}

enum os_status os_notice_post(struct os_notice *notice)
{
    return os_semaphore_post(notice->posted);
}

enum os_status os_notice_wait_for(struct os_notice *notice, int64_t timeout_ns)
{
    return os_semaphore_wait_for(notice->posted, timeout_ns);
}
