/* The descendants of the calling process, from /proc. No number is trusted that could belong to another by now. */
#ifndef TAUTO_POSIX_PROCESS_TREE_H
#define TAUTO_POSIX_PROCESS_TREE_H

#include <sys/types.h>

/* SIGKILL to each child of the calling process. Nobody else may wait for them meanwhile. */
void process_tree_kill_children(void);
/* `signal` to each descendant whose process group is not `but_group` (0: to all). */
void process_tree_signal(int signal, pid_t but_group);

#endif
