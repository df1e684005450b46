#ifndef TAUTO_CHILD_H
#define TAUTO_CHILD_H

#include "os/children.h"

#include <sys/types.h>

struct child_stream {
    int file;      /* -1: at its end */
    bool is_ready; /* there is something to read, or its end */
    size_t left;   /* once the child has ended: how much of what it wrote is still to be read */
};

struct os_child {
    pid_t process;
    int input;       /* -1: closed */
    bool wants_room; /* its input did not take all */
    struct child_stream streams[OS_CHILD_STREAMS];
    bool has_ended;
    int32_t code;
};

/* The CPUs that this program may use now are what its children get. */
void child_remember_cpus(void);
/* Makes the pipes and the process; returns when the program runs, or why it does not. */
enum os_status child_launch(struct os_child *child, char *const *argv, char *const *environment);

#endif
