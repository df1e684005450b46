/* Why a call on a file failed, finely enough for somebody elsewhere who knows errno. */
#ifndef TAUTO_FAULT_H
#define TAUTO_FAULT_H

/* Named after errno's; those without a place here are FAULT_EIO. */
enum os_fault {
    FAULT_NONE,
    FAULT_EPERM,
    FAULT_ENOENT,
    FAULT_ESRCH,
    FAULT_EINTR,
    FAULT_EIO,
    FAULT_ENXIO,
    FAULT_E2BIG,
    FAULT_EAGAIN,
    FAULT_ENOMEM,
    FAULT_EACCES,
    FAULT_EBUSY,
    FAULT_EEXIST,
    FAULT_ENODEV,
    FAULT_ENOTDIR,
    FAULT_EISDIR,
    FAULT_EINVAL,
    FAULT_EMFILE,
    FAULT_EFBIG,
    FAULT_ENOSPC,
    FAULT_EROFS,
    FAULT_ERANGE,
    FAULT_ENAMETOOLONG,
    FAULT_ENOTEMPTY,
    FAULT_ELOOP,
    FAULT_EOPNOTSUPP,
};

const char *os_fault_name(enum os_fault fault); /* "ENOENT" */
const char *os_fault_text(enum os_fault fault); /* a few words for a person */

#endif
