#include "fault_errno.h"

#include <errno.h>
#include <stddef.h>

struct entry {
    int error;
    const char *name;
    const char *text;
};

static const struct entry entries[] = {
    [FAULT_NONE] = {0, "OK", "done"},
    [FAULT_EPERM] = {EPERM, "EPERM", "the system does not permit it"},
    [FAULT_ENOENT] = {ENOENT, "ENOENT", "no such file or folder"},
    [FAULT_ESRCH] = {ESRCH, "ESRCH", "no such process"},
    [FAULT_EINTR] = {EINTR, "EINTR", "interrupted"},
    [FAULT_EIO] = {EIO, "EIO", "the system refused"},
    [FAULT_ENXIO] = {ENXIO, "ENXIO", "no such device"},
    [FAULT_E2BIG] = {E2BIG, "E2BIG", "more than the system takes"},
    [FAULT_EAGAIN] = {EAGAIN, "EAGAIN", "not now"},
    [FAULT_ENOMEM] = {ENOMEM, "ENOMEM", "out of memory"},
    [FAULT_EACCES] = {EACCES, "EACCES", "not permitted to this user"},
    [FAULT_EBUSY] = {EBUSY, "EBUSY", "in use"},
    [FAULT_EEXIST] = {EEXIST, "EEXIST", "it exists already"},
    [FAULT_ENODEV] = {ENODEV, "ENODEV", "no such device"},
    [FAULT_ENOTDIR] = {ENOTDIR, "ENOTDIR", "a part of the path is not a folder"},
    [FAULT_EISDIR] = {EISDIR, "EISDIR", "it is a folder"},
    [FAULT_EINVAL] = {EINVAL, "EINVAL", "the system does not take this value"},
    [FAULT_EMFILE] = {EMFILE, "EMFILE", "too many open files"},
    [FAULT_EFBIG] = {EFBIG, "EFBIG", "too large"},
    [FAULT_ENOSPC] = {ENOSPC, "ENOSPC", "no space is left, or what it needs is not set yet"},
    [FAULT_EROFS] = {EROFS, "EROFS", "the file system is read-only"},
    [FAULT_ERANGE] = {ERANGE, "ERANGE", "outside the range that the system takes"},
    [FAULT_ENAMETOOLONG] = {ENAMETOOLONG, "ENAMETOOLONG", "the name is too long"},
    [FAULT_ENOTEMPTY] = {ENOTEMPTY, "ENOTEMPTY", "the folder is not empty"},
    [FAULT_ELOOP] = {ELOOP, "ELOOP", "links that lead in a circle, or a link where none may be"},
    [FAULT_EOPNOTSUPP] = {EOPNOTSUPP, "EOPNOTSUPP", "the system has no such service"},
};

const char *os_fault_name(enum os_fault fault)
{
    return entries[fault].name;
}

const char *os_fault_text(enum os_fault fault)
{
    return entries[fault].text;
}

enum os_fault os_fault_from_errno(int error)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (entries[i].error == error) {
            return (enum os_fault)i;
        }
    }
    return FAULT_EIO;
}
