/* How much memory this process has, as the system counts it. */
#ifndef TAUTO_MEMORY_USED_H
#define TAUTO_MEMORY_USED_H

#include "os/os.h"

/* INT64_MIN where the system can't tell. */
struct os_memory_used {
    int64_t resident_bytes;     /* in main memory now */
    int64_t proportional_bytes; /* the same, each shared page divided by how many processes have it */
    int64_t private_bytes;      /* of the resident: what no other process has */
    int64_t anonymous_bytes;    /* of the resident: what is of no file: heap, stacks */
    int64_t locked_bytes;
    int64_t peak_bytes; /* the most that was resident so far */
    int64_t threads;    /* their number */
};

void os_memory_used_read(struct os_memory_used *used);

#endif
