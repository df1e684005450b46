/* Writing, without overwriting what somebody measured before: open(2), write(2). */
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct os_output os_output_standard(void)
{
    return (struct os_output){STDOUT_FILENO};
}

struct os_output os_output_error(void)
{
    return (struct os_output){STDERR_FILENO};
}

enum os_status os_output_open(const char *path, struct os_output *output)
{
    if (strcmp(path, "-") == 0) {
        *output = os_output_standard();
        return OS_OK;
    }
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) {
        struct stat found;
        if (stat(path, &found) != 0) {
            return os_status_from_errno(errno);
        }
        if (S_ISREG(found.st_mode) && found.st_size > 0) {
            return OS_EXISTS;
        }
        descriptor = open(path, O_WRONLY | O_CLOEXEC);
    }
    if (descriptor < 0) {
        return os_status_from_errno(errno);
    }
    output->handle = descriptor;
    return OS_OK;
}

enum os_status os_output_write(struct os_output output, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        const ssize_t written = write((int)output.handle, at, bytes);
        if (written < 0) {
            if (errno == EINTR && os_stop_requested() != OS_STOP_AT_ONCE) {
                continue; /* the first request to end lets a slow reader have what was measured */
            }
            return os_status_from_errno(errno);
        }
        at += written;
        bytes -= (size_t)written;
    }
    return OS_OK;
}

enum os_status os_output_close(struct os_output output)
{
    if (output.handle == STDOUT_FILENO || output.handle == STDERR_FILENO) {
        return OS_OK;
    }
    return close((int)output.handle) == 0 ? OS_OK : os_status_from_errno(errno);
}
