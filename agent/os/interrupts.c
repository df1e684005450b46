/*
 * Inter-processor interrupts on purpose: membarrier(2) sends one to each CPU that runs another thread of the process.
 * Where the system has no such call, or forbids it, a page that loses its right to be written does: the other CPUs must
 * forget what they know of it. (Some processors tell each other that without an interrupt.)
 */
#define _GNU_SOURCE /* syscall(), MAP_ANONYMOUS */
#include "os/interrupts.h"

#include "os/posix/status.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { REGISTER_PRIVATE_EXPEDITED = 1 << 4, PRIVATE_EXPEDITED = 1 << 3 }; /* linux/membarrier.h, Linux 4.14 */

struct os_interrupter {
    bool by_barrier;
    volatile unsigned char *page; /* NULL when by_barrier */
    size_t page_bytes;
};

void os_thread_sleep_exactly(void)
{
    prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0); /* nanoseconds */
}

static bool barrier(int command)
{
#ifdef SYS_membarrier
    return syscall(SYS_membarrier, command, 0, 0) == 0;
#else
    (void)command;
    errno = ENOSYS;
    return false;
#endif
}

enum os_status os_interrupter_create(struct os_interrupter **interrupter)
{
    struct os_interrupter *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    made->by_barrier = barrier(REGISTER_PRIVATE_EXPEDITED);
    if (!made->by_barrier) {
        made->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        void *const page =
            mmap(NULL, made->page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) {
            const int error = errno;
            free(made);
            return os_status_from_errno(error);
        }
        made->page = page;
    }
    *interrupter = made;
    return OS_OK;
}

void os_interrupter_destroy(struct os_interrupter *interrupter)
{
    if (interrupter->page != NULL) {
        munmap((void *)interrupter->page, interrupter->page_bytes);
    }
    free(interrupter);
}

enum os_status os_interrupter_use(struct os_interrupter *interrupter)
{
    if (interrupter->by_barrier) {
        return barrier(PRIVATE_EXPEDITED) ? OS_OK : os_status_from_errno(errno);
    }
    void *const page = (void *)interrupter->page;
    *interrupter->page = 1; /* only a page that is there, and was written, is known to anybody */
    const bool done = mprotect(page, interrupter->page_bytes, PROT_READ) == 0 &&
                      mprotect(page, interrupter->page_bytes, PROT_READ | PROT_WRITE) == 0;
    return done ? OS_OK : os_status_from_errno(errno);
}

const char *os_interrupter_way(const struct os_interrupter *interrupter)
{
    return interrupter->by_barrier ? "membarrier" : "mprotect";
}
