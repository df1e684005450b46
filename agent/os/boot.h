/* What only the first program of a system does: setting the system up, and ending it. */
#ifndef TAUTO_BOOT_H
#define TAUTO_BOOT_H

#include "os/fault.h"
#include "os/os.h"

bool os_is_first_program(void);
/* Standard input, output and error are the system's console from now on. */
enum os_fault os_console_take(void);
/* An empty file system of that kind over the folder, which is made where it is not there. `options` may be NULL. */
enum os_fault os_file_system_mount(const char *kind, const char *folder, const char *options);
/* A symbolic link at `path`. */
enum os_fault os_link_make(const char *path, const char *leads_to);
enum os_fault os_kernel_module_load(const char *path);
enum os_fault os_loopback_start(void);
enum os_fault os_host_name_set(const char *name);
/* Programs that are started from now on may raise their limit of open files up to this. */
enum os_fault os_open_files_allow(uint64_t most);
/* When what was written to the console is out. */
_Noreturn void os_power_off(void);

#endif
