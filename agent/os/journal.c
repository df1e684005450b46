#define _GNU_SOURCE
#include "os/journal.h"

#include "fault_errno.h"
#include "format.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MODE = 0755, JOURNAL_MODE = 0600 };

/* The name of the folder that `path` is in. */
static bool folder_of(const char *path, char *folder, size_t bytes)
{
    const char *const slash = strrchr(path, '/');
    const size_t length = slash == NULL ? 0 : (size_t)(slash - path);
    if (length >= bytes) {
        return false;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (length == 0) {
        folder[0] = slash == NULL ? '.' : '/';
        folder[1] = '\0';
    }
    return true;
}

static void make_durable(const char *folder)
{
    const int opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened >= 0) {
        (void)fsync(opened); /* some file systems have none for folders */
        close(opened);
    }
}

static bool write_durably(int file, const char *data, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t written = write(file, data, bytes);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        data += written > 0 ? written : 0;
        bytes -= written > 0 ? (size_t)written : 0;
    }
    return fsync(file) == 0;
}

/* Filled before it gets its name, so that nobody ever sees it without its first line. */
static int create_unnamed(const char *folder, const char *path, const char *line, size_t bytes)
{
    char unnamed[64];
    const int file = open(folder, O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, JOURNAL_MODE);
    if (file < 0) {
        return -1;
    }
    format_text(unnamed, sizeof unnamed, "/proc/self/fd/%d", file);
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && write_durably(file, line, bytes) &&
        linkat(AT_FDCWD, unnamed, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0) {
        return file;
    }
    const int error = errno;
    close(file);
    errno = error;
    return -1;
}

/* On file systems that have no files without a name. */
static int create_named(const char *path, const char *line, size_t bytes)
{
    const int file = open(path, O_CREAT | O_EXCL | O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW, JOURNAL_MODE);
    if (file < 0) {
        return -1;
    }
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && write_durably(file, line, bytes)) {
        return file;
    }
    const int error = errno;
    (void)unlink(path);
    close(file);
    errno = error;
    return -1;
}

enum os_fault os_journal_create(const char *path, const char *line, size_t bytes, intptr_t *journal)
{
    char folder[PATH_MAX];
    if (!folder_of(path, folder, sizeof folder)) {
        return FAULT_ENAMETOOLONG;
    }
    const int refusal = mkdir(folder, FOLDER_MODE) == 0 || errno == EEXIST ? 0 : errno;
    int file = create_unnamed(folder, path, line, bytes);
    if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
        file = create_named(path, line, bytes);
    }
    if (file < 0) { /* a folder that may not be made is the reason, not that it is not there */
        return os_fault_from_errno(errno == ENOENT && refusal != 0 ? refusal : errno);
    }
    make_durable(folder);
    *journal = file;
    return FAULT_NONE;
}

/* What it says is done with all the rights that we have, so nobody else may have written it, or given a file of ours
 * this name. */
static bool is_trustworthy(const struct stat *found)
{
    return S_ISREG(found->st_mode) && (found->st_uid == geteuid() || found->st_uid == 0) && found->st_nlink == 1 &&
           (found->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

enum os_fault os_journal_open(const char *path, intptr_t *journal)
{
    const int file = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) {
        return os_fault_from_errno(errno);
    }
    struct stat found;
    enum os_fault fault = FAULT_NONE;
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        fault = FAULT_EBUSY;
    } else if (fstat(file, &found) != 0 || found.st_nlink == 0) {
        fault = FAULT_ENOENT; /* whoever had it has removed it since we opened it */
    } else if (!is_trustworthy(&found)) {
        fault = FAULT_EPERM;
    }
    if (fault != FAULT_NONE) {
        close(file);
        return fault;
    }
    *journal = file;
    return FAULT_NONE;
}

enum os_fault os_journal_append(intptr_t journal, const char *line, size_t bytes)
{
    const int file = (int)journal;
    struct stat before;
    if (fstat(file, &before) != 0) {
        return os_fault_from_errno(errno);
    }
    if (write_durably(file, line, bytes)) {
        return FAULT_NONE;
    }
    const int error = errno;
    (void)ftruncate(file, before.st_size); /* half a line would spoil the next */
    return os_fault_from_errno(error);
}

enum os_fault os_journal_replace(const char *path, const char *content, size_t bytes)
{
    char other[PATH_MAX];
    if (format_text(other, sizeof other, "%s.new", path) >= sizeof other) {
        return FAULT_ENAMETOOLONG;
    }
    (void)unlink(other); /* of one who was killed */
    const int file = open(other, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, JOURNAL_MODE);
    if (file < 0) {
        return os_fault_from_errno(errno);
    }
    const bool written = write_durably(file, content, bytes);
    const int error = errno;
    close(file);
    if (written && rename(other, path) == 0) {
        return FAULT_NONE;
    }
    const enum os_fault fault = os_fault_from_errno(written ? errno : error);
    (void)unlink(other);
    return fault;
}

void os_journal_close(intptr_t journal)
{
    close((int)journal);
}
