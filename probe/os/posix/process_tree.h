/* The descendants of a process, mostly the calling one, from /proc. No number is trusted that could belong to another by now. */
#ifndef TAUTO_POSIX_PROCESS_TREE_H
#define TAUTO_POSIX_PROCESS_TREE_H

#include <stddef.h>
#include <sys/types.h>

/* SIGKILL to each child of the calling process. Nobody else may wait for them meanwhile. */
void process_tree_kill_children(void);
/* `signal` to each descendant whose process group is not `but_group` (0: to all). */
void process_tree_signal(int signal, pid_t but_group);
/* Those of `root`, at most `limit`; returns how many. */
size_t process_tree_of(pid_t root, pid_t *found, size_t limit);

#endif
