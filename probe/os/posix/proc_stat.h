/* What Linux says of a thread in /proc/PID/task/TID/stat; see proc(5). */
#ifndef TAUTO_POSIX_PROC_STAT_H
#define TAUTO_POSIX_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
    pid_t pid; /* the thread's own number */
    char state;
    pid_t parent;
    pid_t group;
    uint64_t flags;       /* PF_… of the kernel */
    uint64_t start_ticks; /* since the system began; with the number it tells a thread from all others of this boot */
};

/* False: there is no such thread, or not in that process. */
bool proc_stat_read(struct proc_stat *stat, pid_t process, pid_t thread);
/* The same from the file's text. */
bool proc_stat_parse(struct proc_stat *stat, const char *text);
/* One that nobody has waited for yet has ended all the same. */
bool proc_stat_has_ended(const struct proc_stat *stat);

#endif
