/*
 * Many programs at once, each spoken to through pipes and in a process group of its own: for the first program of a
 * system. Nothing here blocks but os_children_wait and, until the program runs, os_child_start. Not for threads.
 */
#ifndef TAUTO_CHILDREN_H
#define TAUTO_CHILDREN_H

#include "os/os.h"

enum { MOST_CHILDREN = 256 };
enum os_child_stream { OS_CHILD_OUTPUT, OS_CHILD_ERROR, OS_CHILD_STREAMS };

struct os_child;

/* Once, before the first. The CPUs that this program may use now are what each child gets, whatever comes later. */
enum os_status os_children_begin(void);

/* argv[0] is looked up in the PATH of `environment`; both end with NULL. OS_NOT_FOUND: no such program. OS_NO_MEMORY
 * also where there are MOST_CHILDREN. */
enum os_status os_child_start(struct os_child **child, char *const *argv, char *const *environment);
/* Of its output and its errors, what is there. 0: nothing now. */
size_t os_child_read(struct os_child *child, enum os_child_stream stream, void *data, size_t bytes);
/* How much its input takes now; all, where nobody reads it any more. */
size_t os_child_write(struct os_child *child, const void *data, size_t bytes);
void os_child_close_input(struct os_child *child);
/* To its process group. OS_INVALID: no such signal. */
enum os_status os_child_signal(const struct os_child *child, int64_t signal);
/* It has ended, and all that it had written by then was read. `code`: its own, or minus the number of the signal that
 * ended it. */
bool os_child_has_ended(const struct os_child *child, int32_t *code);
/* One that has ended. */
void os_child_free(struct os_child *child);

/* Sleeps until one of the children has written something, takes more input after it did not take all, or has ended; or
 * until the instant. When a child ends, what is left of its process group is killed. Children that are not ours
 * (orphans that the system gives to its first program) are waited for and forgotten. */
void os_children_wait(int64_t instant_ns);
/* The same, but what they write wakes nobody before the instant; afterwards it is seen. */
void os_children_gather(int64_t instant_ns);

#endif
