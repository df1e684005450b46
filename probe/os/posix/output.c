/* Writing, without overwriting what somebody measured before, and where nobody else has led us: open(2), write(2), poll(2). */
#include "os/standard.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

/* /dev/stdout, /dev/fd/7: links that only the system makes. */
static bool is_of_system(const char *path)
{
    static const char devices[] = "/dev/";
    static const char open_here[] = "/dev/fd/";
    const size_t folder = strncmp(path, open_here, sizeof open_here - 1) == 0 ? sizeof open_here - 1 : sizeof devices - 1;
    return strncmp(path, devices, sizeof devices - 1) == 0 && strchr(path + folder, '/') == NULL;
}

/* Whoever may make names where we write must not choose for us (with root's rights) what is written to. */
static enum os_status judge(const struct stat *found)
{
    if (S_ISREG(found->st_mode)) {
        if (found->st_size > 0) {
            return OS_EXISTS;
        }
        return found->st_uid == geteuid() && found->st_nlink <= 1 ? OS_OK : OS_OF_OTHERS;
    }
    if (S_ISFIFO(found->st_mode) || S_ISCHR(found->st_mode)) {
        return OS_OK;
    }
    return S_ISLNK(found->st_mode) ? OS_IS_LINK : S_ISDIR(found->st_mode) ? OS_IS_FOLDER : OS_IS_DEVICE;
}

/* Looked at before, because opening a device may set it to work, and after, because it may be another by then. */
static enum os_status open_what_is_there(const char *path, struct os_output *output)
{
    const bool follows = is_of_system(path);
    struct stat found;
    if (fstatat(AT_FDCWD, path, &found, follows ? 0 : AT_SYMLINK_NOFOLLOW) != 0) {
        return os_status_from_errno(errno);
    }
    enum os_status status = judge(&found);
    if (status != OS_OK) {
        return status;
    }
    const int descriptor = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW));
    if (descriptor < 0) {
        return os_status_from_errno(errno);
    }
    status = fstat(descriptor, &found) == 0 ? judge(&found) : os_status_from_errno(errno);
    if (status != OS_OK) {
        close(descriptor);
        return status;
    }
    output->handle = descriptor;
    return OS_OK;
}

void os_standard_numbers_take(void)
{
    int taken = 0;
    while (taken >= 0 && taken <= STDERR_FILENO) {
        taken = open("/dev/null", O_RDONLY | O_CLOEXEC); /* what is written there fails, as it would without */
    }
    (void)close(taken);
}

enum os_status os_output_open(const char *path, struct os_output *output)
{
    if (strcmp(path, "-") == 0) {
        *output = os_output_standard();
        return OS_OK;
    }
    os_standard_numbers_take(); /* with the number of standard error it would get our messages */
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return errno == EEXIST ? open_what_is_there(path, output) : os_status_from_errno(errno);
    }
    output->handle = descriptor;
    return OS_OK;
}

/* The first request to end lets a slow reader have what was measured. It may be that O_NONBLOCK was set for all who have
 * this file, by whoever started us or shares a terminal with us. */
static bool tries_again(int file, int error)
{
    enum { LOOK_AGAIN_MS = 100 };
    struct pollfd reader = {.fd = file, .events = POLLOUT};
    if (error == EAGAIN) {
        (void)poll(&reader, 1, LOOK_AGAIN_MS); /* whatever it says, it is tried again */
    }
    return (error == EINTR || error == EAGAIN) && os_stop_requested() != OS_STOP_AT_ONCE;
}

enum os_status os_output_write(struct os_output output, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        const ssize_t written = write((int)output.handle, at, bytes);
        if (written < 0) {
            const int error = errno;
            if (tries_again((int)output.handle, error)) {
                continue;
            }
            return os_status_from_errno(error);
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
