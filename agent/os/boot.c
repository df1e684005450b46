/* mount(2), finit_module(2), sethostname(2), reboot(2), setrlimit(2), netdevice(7). */
#define _GNU_SOURCE
#include "os/boot.h"

#include "fault_errno.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

enum { FOLDER_MODE = 0755 };

static enum os_fault fault_of(long result)
{
    return result < 0 ? os_fault_from_errno(errno) : FAULT_NONE;
}

bool os_is_first_program(void)
{
    return getpid() == 1;
}

enum os_fault os_console_take(void)
{
    const int console = open("/dev/console", O_RDWR | O_NOCTTY);
    if (console < 0) {
        return os_fault_from_errno(errno);
    }
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; standard++) {
        if (dup2(console, standard) < 0) {
            return os_fault_from_errno(errno);
        }
    }
    return console > STDERR_FILENO ? fault_of(close(console)) : FAULT_NONE;
}

enum os_fault os_file_system_mount(const char *kind, const char *folder, const char *options)
{
    (void)mkdir(folder, FOLDER_MODE); /* where that fails, so does what follows, or it was there */
    return fault_of(mount(kind, folder, kind, 0, options));
}

enum os_fault os_link_make(const char *path, const char *leads_to)
{
    return fault_of(symlink(leads_to, path));
}

enum os_fault os_kernel_module_load(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return os_fault_from_errno(errno);
    }
    const enum os_fault fault = fault_of(syscall(SYS_finit_module, file, "", 0));
    close(file);
    return fault;
}

enum os_fault os_loopback_start(void)
{
    struct ifreq interface = {.ifr_name = "lo"};
    const int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (handle < 0) {
        return os_fault_from_errno(errno);
    }
    long result = ioctl(handle, SIOCGIFFLAGS, &interface);
    if (result == 0) {
        interface.ifr_flags = (short)(interface.ifr_flags | IFF_UP | IFF_RUNNING);
        result = ioctl(handle, SIOCSIFFLAGS, &interface);
    }
    const enum os_fault fault = fault_of(result);
    close(handle);
    return fault;
}

enum os_fault os_host_name_set(const char *name)
{
    return fault_of(sethostname(name, strlen(name)));
}

enum os_fault os_open_files_allow(uint64_t most)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return os_fault_from_errno(errno);
    }
    limit.rlim_max = (rlim_t)most;
    return fault_of(setrlimit(RLIMIT_NOFILE, &limit));
}

void os_power_off(void)
{
    (void)tcdrain(STDERR_FILENO);
    (void)reboot(RB_POWER_OFF);
    _exit(1); /* of the first program this is a panic, which ends the machine too */
}
