/* Files without a name: open(2) with O_TMPFILE, or mkstemp(3) and unlink(2). */
#define _GNU_SOURCE
#include "os/storage.h"

#include "format.h"
#include "os/posix/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

struct os_storage {
    int file;
};

const char *os_storage_usual_folder(void)
{
    const char *const named = secure_getenv("TMPDIR");
    return named != NULL && named[0] != '\0' ? named : "/var/tmp";
}

enum os_status os_storage_facts(const char *folder, struct os_storage_facts *facts)
{
    struct statvfs found;
    if (statvfs(folder, &found) != 0) {
        return os_status_from_errno(errno);
    }
    const uint64_t free_bytes = (uint64_t)found.f_bavail * found.f_frsize;
    facts->free_bytes = free_bytes < INT64_MAX ? (int64_t)free_bytes : INT64_MAX;
    facts->is_read_only = (found.f_flag & ST_RDONLY) != 0;
    return OS_OK;
}

static int open_without_name(const char *folder)
{
#ifdef O_TMPFILE
    const int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
        return file;
    }
#endif
    char path[LONGEST_PATH];
    if (format_text(path, sizeof path, "%s/tautochrone-XXXXXX", folder) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int named = mkostemp(path, O_CLOEXEC);
    if (named >= 0) {
        unlink(path);
    }
    return named;
}

enum os_status os_storage_create(struct os_storage **storage, const char *folder)
{
    struct os_storage *const made = malloc(sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    made->file = open_without_name(folder);
    if (made->file < 0) {
        const int error = errno;
        free(made);
        return os_status_from_errno(error);
    }
    *storage = made;
    return OS_OK;
}

void os_storage_destroy(struct os_storage *storage)
{
    if (storage != NULL) {
        close(storage->file);
        free(storage);
    }
}

enum os_status os_storage_write(struct os_storage *storage, int64_t at, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        const ssize_t written = pwrite(storage->file, from, bytes, at);
        if (written < 0 && errno != EINTR) {
            return os_status_from_errno(errno);
        }
        if (written > 0) {
            from += written;
            at += written;
            bytes -= (size_t)written;
        }
    }
    return OS_OK;
}

enum os_status os_storage_read(struct os_storage *storage, int64_t at, void *data, size_t bytes)
{
    char *into = data;
    while (bytes > 0) {
        const ssize_t got = pread(storage->file, into, bytes, at);
        if (got == 0) {
            return OS_FAILED;
        }
        if (got < 0 && errno != EINTR) {
            return os_status_from_errno(errno);
        }
        if (got > 0) {
            into += got;
            at += got;
            bytes -= (size_t)got;
        }
    }
    return OS_OK;
}

enum os_status os_storage_sync(struct os_storage *storage)
{
    return fsync(storage->file) == 0 ? OS_OK : os_status_from_errno(errno);
}

void os_storage_forget(struct os_storage *storage)
{
    (void)posix_fadvise(storage->file, 0, 0, POSIX_FADV_DONTNEED);
}

enum os_status os_storage_clear(struct os_storage *storage)
{
    return ftruncate(storage->file, 0) == 0 ? OS_OK : os_status_from_errno(errno);
}
