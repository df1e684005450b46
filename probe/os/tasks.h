/* Which task this is: a number is used again, with its start it is this one and no other of this boot. */
#ifndef TAUTO_TASKS_H
#define TAUTO_TASKS_H

#include <stdbool.h>
#include <stdint.h>

/* When the thread (or the process) of this number began. False: there is none. `of_kernel` may be NULL. */
bool os_task_start(int64_t number, uint64_t *start, bool *of_kernel);
int64_t os_own_process(void);

#endif
