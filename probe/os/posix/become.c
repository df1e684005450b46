/* Programs that were installed beside this one: readlink(2) of /proc/self/exe, execv(3), fork(2). */
#define _GNU_SOURCE
#include "os/process.h"

#include "format.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* Of this program's own file, without the last slash. */
static bool own_folder(char *path, size_t bytes)
{
    const ssize_t got = readlink("/proc/self/exe", path, bytes - 1);
    if (got <= 0) {
        return false;
    }
    path[got] = '\0';
    char *const slash = strrchr(path, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return true;
}

enum os_status os_program_find(const char *place, const char *name, char *path, size_t bytes)
{
    char own[PATH_BYTES];
    const char *folder = secure_getenv(place);
    if (folder == NULL || *folder == '\0') {
        if (!own_folder(own, sizeof own)) {
            return OS_NOT_FOUND;
        }
        folder = own;
    }
    if (format_text(path, bytes, "%s/%s", folder, name) >= bytes || strchr(name, '/') != NULL) {
        return OS_NOT_FOUND;
    }
    return access(path, X_OK) == 0 ? OS_OK : OS_NOT_FOUND;
}

int os_program_ask(const char *path, char *const *argv)
{
    int how = -1;
    const pid_t child = fork();
    if (child == 0) {
        execv(path, argv);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &how, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

enum os_status os_process_become(const char *place, const char *name, char *const *argv)
{
    char path[PATH_BYTES];
    const enum os_status status = os_program_find(place, name, path, sizeof path);
    if (status == OS_OK) {
        execv(path, argv);
        return os_status_from_errno(errno);
    }
    return status;
}
