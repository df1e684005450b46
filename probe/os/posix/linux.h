/* What POSIX leaves out and Linux has: the one place to fill in for another POSIX system. */
#ifndef TAUTO_POSIX_LINUX_H
#define TAUTO_POSIX_LINUX_H

#include "os/os.h"

/* These act on the calling thread. */
void linux_thread_set_name(const char *name);
enum os_status linux_thread_set_cpu(int32_t cpu);
enum os_status linux_thread_set_deadline(int64_t runtime_ns, int64_t deadline_ns, int64_t period_ns);
void linux_thread_read_back(struct os_thread_obtained *obtained);

/* Memory of this process that is locked, 0 where it can't be told. */
int64_t linux_locked_bytes(void);

#endif
