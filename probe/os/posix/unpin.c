/* Letting starved threads come to their end: sched_setaffinity(2) over the threads of /proc/self/task. */
#define _GNU_SOURCE
#include "os/os.h"

#include "linux.h"

#include <dirent.h>
#include <sched.h>
#include <string.h>

enum { SETS = 4 }; /* cpu_set_t alone ends at 1,024 CPUs */

/* The system takes away what the process may not use, so asking for every CPU is asking for all that there are. */
void os_threads_unpin(void)
{
    cpu_set_t every[SETS];
    memset(every, 0xff, sizeof every);
    DIR *const threads = opendir("/proc/self/task");
    if (threads == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(threads); entry != NULL; entry = readdir(threads)) {
        const int64_t thread = linux_number(entry->d_name, NULL);
        if (thread > 0) {
            (void)sched_setaffinity((pid_t)thread, sizeof every, every); /* one that has just ended, or is refused */
        }
    }
    closedir(threads);
}
