/* Memory that never faults while measuring: mmap(2), mlockall(2). */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "linux.h"
#include "status.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static bool was_granted;

enum os_status os_memory_lock(void)
{
    was_granted = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
    return was_granted ? OS_OK : os_status_from_errno(errno);
}

int64_t os_memory_lock_limit_bytes(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > INT64_MAX) {
        return INT64_MAX;
    }
    return (int64_t)limit.rlim_cur;
}

bool os_memory_is_locked(void)
{
    const int64_t bytes = linux_locked_bytes();
    return bytes > 0 || (bytes < 0 && was_granted);
}

enum os_status os_memory_reserve(void **memory, size_t bytes)
{
    void *const made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) {
        return os_status_from_errno(errno);
    }
    *memory = made;
    return OS_OK;
}

enum os_status os_memory_allocate(void **memory, size_t bytes)
{
    const enum os_status status = os_memory_reserve(memory, bytes);
    if (status == OS_OK) {
        memset(*memory, 0, bytes); /* touches every page */
    }
    return status;
}

void os_memory_free(void *memory, size_t bytes)
{
    if (memory != NULL) {
        munmap(memory, bytes);
    }
}
