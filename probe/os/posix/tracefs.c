/* tracefs(5), through a descriptor of its folder: so it need not be mounted where everybody sees it. */
#define _GNU_SOURCE /* syscall */
#include "tracefs.h"

#include "status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* From linux/mount.h, which not every C library brings along. */
enum { FSOPEN_CLOEXEC_FLAG = 1, FSCONFIG_CREATE = 6, FSMOUNT_CLOEXEC_FLAG = 1, NOSUID_NODEV_NOEXEC = 2 | 4 | 8 };

/* fsopen(2) and its like: Linux 5.2. */
static int mount_nowhere(void)
{
    const int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC_FLAG);
    if (context < 0) {
        return -1;
    }
    int folder = -1;
    if (syscall(SYS_fsconfig, context, FSCONFIG_CREATE, NULL, NULL, 0) == 0) {
        folder = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC_FLAG, NOSUID_NODEV_NOEXEC);
    }
    const int error = errno;
    close(context);
    errno = error;
    return folder;
}

enum os_status tracefs_open(int *folder)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct stat tracer;
        *folder = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (*folder < 0 && (errno == EACCES || errno == EPERM)) {
            return OS_NOT_PERMITTED; /* mounted, and closed to this user */
        }
        if (*folder >= 0 && fstatat(*folder, "current_tracer", &tracer, 0) == 0) {
            return OS_OK;
        }
        if (*folder >= 0) {
            close(*folder);
        }
    }
    *folder = mount_nowhere();
    if (*folder >= 0) {
        return OS_OK;
    }
    return errno == ENODEV || errno == ENOSYS ? OS_UNSUPPORTED : os_status_from_errno(errno);
}

enum os_status tracefs_read(int folder, const char *path, char *text, size_t bytes)
{
    const int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return os_status_from_errno(errno);
    }
    size_t filled = 0;
    ssize_t got = 1;
    while (got > 0 && filled < bytes - 1) {
        got = read(file, text + filled, bytes - 1 - filled);
        filled += got > 0 ? (size_t)got : 0;
    }
    const enum os_status status = got < 0 ? os_status_from_errno(errno) : OS_OK;
    close(file);
    while (filled > 0 && text[filled - 1] == '\n') {
        filled--;
    }
    text[filled] = '\0';
    return status;
}

enum os_status tracefs_write(int folder, const char *path, const char *text)
{
    const int file = openat(folder, path, O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return os_status_from_errno(errno);
    }
    const size_t bytes = strlen(text);
    const ssize_t written = write(file, text, bytes);
    const enum os_status status = written == (ssize_t)bytes ? OS_OK : os_status_from_errno(written < 0 ? errno : EIO);
    close(file);
    return status;
}

bool tracefs_has_word(const char *text, const char *word)
{
    static const char blanks[] = " \n";
    const size_t length = strlen(word);
    for (text += strspn(text, blanks); *text != '\0'; text += strspn(text, blanks)) {
        const size_t found = strcspn(text, blanks);
        if (found == length && memcmp(text, word, length) == 0) {
            return true;
        }
        text += found;
    }
    return false;
}

enum os_status tracefs_names(int folder, const char *path, void (*visit)(void *argument, const char *name), void *argument)
{
    const int opened = openat(folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *const names = opened < 0 ? NULL : fdopendir(opened);
    if (names == NULL) {
        const enum os_status status = os_status_from_errno(errno);
        if (opened >= 0) {
            close(opened);
        }
        return status;
    }
    for (const struct dirent *entry = readdir(names); entry != NULL; entry = readdir(names)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            visit(argument, entry->d_name);
        }
    }
    closedir(names);
    return OS_OK;
}
