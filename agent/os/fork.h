/* Children of this program's own, which only burn memory and time. */
#ifndef TAUTO_FORK_H
#define TAUTO_FORK_H

#include "os/os.h"

/* A child that is a copy of the calling thread runs `work`, then ends; returns when it has ended. `work` may touch
 * memory, os_memory_reserve and os_memory_free, and nothing that takes a lock. OS_FAILED: it returned false.
 * OS_NO_MEMORY: there was no memory for the child, or the system ended it. OS_INTERRUPTED: os_stop_requested, and it
 * was ended. */
enum os_status os_fork_and_wait(bool (*work)(void *argument), void *argument);

#endif
