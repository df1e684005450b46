/* What POSIX leaves out and Linux has: the one place to fill in for another POSIX system. */
#ifndef TAUTO_POSIX_LINUX_H
#define TAUTO_POSIX_LINUX_H

#include "os/os.h"

/* As sched.h has it; of a deadline, what a thread is before it gets one. */
int linux_policy(enum os_policy policy);
/* In the system's own numbers (thread.c). */
int linux_priority(enum os_policy policy, int32_t below_highest);

/* These act on the calling thread. */
void linux_thread_set_name(const char *name);
enum os_status linux_thread_set_cpu(int32_t cpu);
enum os_status linux_thread_set_deadline(int64_t runtime_ns, int64_t deadline_ns, int64_t period_ns);
void linux_thread_read_back(struct os_thread_obtained *obtained);
/* The same of any thread, by its number, but for its timer slack. */
void linux_task_read_back(int64_t task, struct os_thread_obtained *obtained);

/* Memory of this process that is locked, negative where it can't be told. */
int64_t linux_locked_bytes(void);

/* Of /proc/PID/status, with the lists of many CPUs, and of a thousand groups. */
enum { LINUX_STATUS_BYTES = 16384 };
/* The beginning of a small file of /proc or /sys. False: it is empty, or can't be read. */
bool linux_read_text(const char *path, char *text, size_t bytes);
/* Behind the first `key` in a text; NULL: it is not there. strstr() and strtol() are larger than all that is read by them. */
const char *linux_behind(const char *text, const char *key);
/* The decimal number at `text`, behind blanks, and at `*end` (unless NULL) what follows: `text` itself where none is. */
int64_t linux_number(const char *text, const char **end);
/* Is the CPU in a list such as 0-3,6? */
bool linux_list_contains(const char *list, int32_t cpu);

/* The control group for threads on CPUs that ours does not have: TAUTO_THREADS_JOIN names its file for threads
 * (docs/agent.md). False: there is none, or it has not this CPU either; or the calling thread may not join. */
bool linux_group_has_cpu(int32_t cpu);
bool linux_group_join(void);

#endif
