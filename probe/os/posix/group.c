/* Another control group for single threads: cgroups(7), cpuset(7). */
#define _GNU_SOURCE /* secure_getenv */
#include "format.h"
#include "linux.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_LIST = 4096 };

static const char *join_file(void)
{
    const char *const path = secure_getenv("TAUTO_THREADS_JOIN");
    return path != NULL && path[0] == '/' ? path : NULL;
}

/* What the group's set comes to within its parents', or, where the kernel does not say that, what was asked for. */
bool linux_group_has_cpu(int32_t cpu)
{
    static const char *const names[] = {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"};
    const char *const file = join_file();
    if (file == NULL) {
        return false;
    }
    char path[PATH_MAX];
    char list[LONGEST_LIST];
    const size_t folder = (size_t)(strrchr(file, '/') - file) + 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && folder < sizeof path; i++) {
        memcpy(path, file, folder);
        if (format_text(path + folder, sizeof path - folder, "%s", names[i]) < sizeof path - folder &&
            linux_read_text(path, list, sizeof list)) {
            return linux_list_contains(list, cpu);
        }
    }
    return false;
}

bool linux_group_join(void)
{
    const char *const path = join_file();
    const int file = path != NULL ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    if (file < 0) {
        return false;
    }
    const bool joined = write(file, "0", 1) == 1;
    close(file);
    return joined;
}
