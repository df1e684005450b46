/* Files of /proc, /sys and control groups: open(2), read(2), write(2). */
#define _GNU_SOURCE
#include "os/settings.h"

#include "fault_errno.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 4096, LARGEST_FILE = 16 * 1024 * 1024, FOLDER_MODE = 0755, FILE_MODE = 0644 };

static enum os_fault close_after(int file, enum os_fault fault)
{
    if (close(file) != 0 && fault == FAULT_NONE && errno != EINTR) {
        return os_fault_from_errno(errno);
    }
    return fault;
}

static enum os_fault read_all(int file, struct text *content)
{
    for (;;) {
        char *const place = text_reserve(content, READ_BYTES);
        if (place == NULL) {
            return FAULT_ENOMEM;
        }
        const ssize_t got = read(file, place, READ_BYTES);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            place[0] = '\0';
            return got == 0 ? FAULT_NONE : os_fault_from_errno(errno);
        }
        content->length += (size_t)got;
        content->data[content->length] = '\0';
        if (content->length > LARGEST_FILE) {
            return FAULT_EFBIG;
        }
    }
}

enum os_fault os_file_read(const char *path, struct text *content)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return file < 0 ? os_fault_from_errno(errno) : close_after(file, read_all(file, content));
}

enum os_fault os_file_read_open(intptr_t handle, struct text *content)
{
    return lseek((int)handle, 0, SEEK_SET) == 0 ? read_all((int)handle, content) : os_fault_from_errno(errno);
}

enum os_fault os_file_put(intptr_t handle, const char *data, size_t bytes)
{
    do {
        const ssize_t written = write((int)handle, data, bytes);
        if (written < 0) {
            return os_fault_from_errno(errno);
        }
        data += written;
        bytes -= (size_t)written;
    } while (bytes > 0);
    return FAULT_NONE;
}

enum os_fault os_file_write(const char *path, const char *data, size_t bytes, bool may_create)
{
    const int flags = O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY | (may_create ? O_CREAT : 0);
    const int file = open(path, flags, FILE_MODE);
    return file < 0 ? os_fault_from_errno(errno) : close_after(file, os_file_put(file, data, bytes));
}

enum os_fault os_file_open(const char *path, intptr_t *handle)
{
    *handle = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return *handle < 0 ? os_fault_from_errno(errno) : FAULT_NONE;
}

void os_file_close(intptr_t handle)
{
    close((int)handle);
}

static bool is_folder(DIR *folder, const struct dirent *entry)
{
    struct stat found;
    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK) {
        return entry->d_type == DT_DIR;
    }
    return fstatat(dirfd(folder), entry->d_name, &found, 0) == 0 && S_ISDIR(found.st_mode);
}

enum os_fault os_folder_names(const char *path, struct text *names)
{
    DIR *const folder = opendir(path);
    if (folder == NULL) {
        return os_fault_from_errno(errno);
    }
    errno = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            text_add_string(names, entry->d_name);
            text_add_string(names, is_folder(folder, entry) ? "/\n" : "\n");
        }
        errno = 0;
    }
    const int error = errno;
    closedir(folder);
    return names->out_of_memory ? FAULT_ENOMEM : os_fault_from_errno(error);
}

enum os_file_kind os_file_kind(const char *path)
{
    struct stat found;
    if (stat(path, &found) != 0) {
        return OS_KIND_NONE;
    }
    return S_ISDIR(found.st_mode) ? OS_KIND_FOLDER : OS_KIND_FILE;
}

enum os_fault os_folder_make(const char *path)
{
    return mkdir(path, FOLDER_MODE) == 0 ? FAULT_NONE : os_fault_from_errno(errno);
}

enum os_fault os_folder_remove(const char *path)
{
    return rmdir(path) == 0 ? FAULT_NONE : os_fault_from_errno(errno);
}

enum os_fault os_file_remove(const char *path)
{
    return unlink(path) == 0 ? FAULT_NONE : os_fault_from_errno(errno);
}
