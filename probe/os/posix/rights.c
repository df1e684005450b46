/* AT_SECURE of getauxval(3), setresuid(2), capset(2): by system calls, for there is only one thread yet. */
#define _GNU_SOURCE /* syscall */
#include "os/rights.h"

#include "status.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/capability.h, which not every C library brings along. */
struct capability_header {
    uint32_t version;
    int process; /* 0: this one */
};
struct capability_sets {
    uint32_t effective;
    uint32_t permitted;
    uint32_t inheritable;
};
static const uint32_t capability_version_3 = 0x20080522;

#ifdef SYS_setresuid32 /* 32-bit systems: the other has 16 bits */
enum { SET_USERS = SYS_setresuid32, SET_GROUPS = SYS_setresgid32 };
#else
enum { SET_USERS = SYS_setresuid, SET_GROUPS = SYS_setresgid };
#endif

bool os_rights_are_raised(void)
{
    return getauxval(AT_SECURE) != 0;
}

bool os_rights_are_of_another(void)
{
    return os_rights_are_raised() && (geteuid() != getuid() || getegid() != getgid());
}

enum os_status os_rights_give_back(void)
{
    if (!os_rights_are_raised()) {
        return OS_OK;
    }
    struct capability_header header = {.version = capability_version_3};
    const struct capability_sets none[2] = {{0}, {0}};
    const uid_t user = getuid();
    const gid_t group = getgid();
    if (syscall(SET_GROUPS, group, group, group) != 0 || syscall(SET_USERS, user, user, user) != 0 ||
        syscall(SYS_capset, &header, none) != 0) {
        return os_status_from_errno(errno);
    }
    /* Its own entry in /proc was root's until now. */
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0 ? OS_OK : os_status_from_errno(errno);
}
