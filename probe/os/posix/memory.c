/* Memory that never faults while measuring: mmap(2), mlockall(2). */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "linux.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum os_status os_memory_lock(void)
{
    return mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? OS_OK : os_status_from_errno(errno);
}

bool os_memory_is_locked(void)
{
    return linux_locked_bytes() > 0;
}

/* MemAvailable of proc(5), in KiB. */
int64_t os_memory_available_bytes(void)
{
    static const char key[] = "MemAvailable:";
    char text[1024] = "";
    const int file = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    const ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) {
        close(file);
    }
    const char *const line = got > 0 ? strstr(text, key) : NULL;
    return line != NULL ? (int64_t)strtoll(line + sizeof key - 1, NULL, 10) * 1024 : INT64_MAX;
}

enum os_status os_memory_allocate(void **memory, size_t bytes)
{
    void *const made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) {
        return os_status_from_errno(errno);
    }
    memset(made, 0, bytes); /* touches every page */
    *memory = made;
    return OS_OK;
}

void os_memory_free(void *memory, size_t bytes)
{
    if (memory != NULL) {
        munmap(memory, bytes);
    }
}
