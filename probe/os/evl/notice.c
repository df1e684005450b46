/* From a thread of EVL's to Linux's side: an eventfd(2) for the one, and a proxy of EVL's through which the other writes. */
#include "lock.h"

#include "os/posix/status.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000, NAME_BYTES = 48, POSTS = 64 };

struct os_notice {
    int event;
    int proxy;
};

enum os_status os_notice_create(struct os_notice **notice)
{
    char name[NAME_BYTES];
    struct os_notice *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    evl_element_name(name, sizeof name);
    made->event = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    made->proxy = made->event >= 0 ? evl_create_proxy(made->event, POSTS * sizeof(uint64_t), sizeof(uint64_t),
                                                      EVL_CLONE_PRIVATE, "%s", name)
                                   : -errno;
    if (made->proxy < 0) {
        const int error = -made->proxy;
        if (made->event >= 0) {
            close(made->event);
        }
        free(made);
        return os_status_from_errno(error);
    }
    *notice = made;
    return OS_OK;
}

void os_notice_destroy(struct os_notice *notice)
{
    if (notice != NULL) {
        close(notice->proxy);
        close(notice->event);
        free(notice);
    }
}

enum os_status os_notice_post(struct os_notice *notice)
{
    const uint64_t one = 1;
    const ssize_t written = evl_is_inband() ? write(notice->event, &one, sizeof one)
                                            : oob_write(notice->proxy, &one, sizeof one);
    return written == (ssize_t)sizeof one ? OS_OK : OS_FAILED;
}

enum os_status os_notice_wait_for(struct os_notice *notice, int64_t timeout_ns)
{
    const int64_t end_ns = os_now_ns() + timeout_ns;
    for (;;) {
        struct pollfd file = {.fd = notice->event, .events = POLLIN};
        const int64_t left_ns = end_ns - os_now_ns();
        const int64_t left_ms = left_ns > 0 ? (left_ns + NS_PER_MS - 1) / NS_PER_MS : 0;
        const int ready = poll(&file, 1, left_ms > INT32_MAX ? INT32_MAX : (int)left_ms);
        uint64_t posted;
        if (ready > 0 && read(notice->event, &posted, sizeof posted) == (ssize_t)sizeof posted) {
            return OS_OK;
        }
        if (ready < 0 && errno != EINTR) {
            return os_status_from_errno(errno);
        }
        if (left_ns <= 0) {
            return OS_TIMED_OUT;
        }
    }
}
