/* gettid(2); the identity of a boot (random(4)), and of the time namespace (time_namespaces(7)), which shifts the
 * monotonic clock. */
#define _GNU_SOURCE
#include "os/identity.h"

#include "format.h"
#include "linux.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BOOT_BYTES = 40, NAMESPACE_BYTES = 48 };

int64_t os_thread_number(void)
{
    return syscall(SYS_gettid);
}

void os_thread_read_back_of(int64_t number, struct os_thread_obtained *obtained)
{
    linux_task_read_back(number, obtained);
}

static bool read_boot(char boot[BOOT_BYTES])
{
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    const ssize_t got = read(file, boot, BOOT_BYTES - 1);
    close(file);
    if (got <= 0) {
        return false;
    }
    boot[got] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
    return true;
}

void os_clock_identity(char identity[OS_CLOCK_IDENTITY_BYTES])
{
    char boot[BOOT_BYTES];
    char within[NAMESPACE_BYTES] = "one"; /* a kernel without time namespaces has one clock */
    if (!read_boot(boot)) {
        format_text(identity, OS_CLOCK_IDENTITY_BYTES, "unknown");
        return;
    }
    const ssize_t got = readlink("/proc/self/ns/time", within, sizeof within - 1);
    if (got > 0) {
        within[got] = '\0';
    }
    format_text(identity, OS_CLOCK_IDENTITY_BYTES, "%s/%s", boot, within);
}
