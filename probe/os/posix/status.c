/* errno in the words of os.h. */
#include "status.h"

#include <errno.h>

enum os_status os_status_from_errno(int error)
{
    switch (error) {
    case 0:
        return OS_OK;
    case EPERM:
    case EACCES:
    case EROFS:
        return OS_NOT_PERMITTED;
    case ENOSYS:
    case ENOTSUP:
        return OS_UNSUPPORTED;
    case EINVAL:
    case ESRCH:
    case ENODEV:
        return OS_INVALID;
    case ENOMEM:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
        return OS_NO_MEMORY;
    case ENOSPC:
    case EDQUOT:
        return OS_NO_SPACE;
    case EISDIR:
        return OS_IS_FOLDER;
    case EBUSY:
        return OS_BUSY;
    case ECONNREFUSED:
        return OS_REFUSED;
    case ECONNRESET:
    case ECONNABORTED:
        return OS_CLOSED;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EADDRNOTAVAIL:
        return OS_UNREACHABLE;
    case EADDRINUSE:
        return OS_IN_USE;
    case ETIMEDOUT:
        return OS_TIMED_OUT;
    case EINTR:
        return OS_INTERRUPTED;
    case EEXIST:
        return OS_EXISTS;
    case ENOENT:
    case ENOTDIR:
        return OS_NOT_FOUND;
    default:
        return OS_FAILED;
    }
}
