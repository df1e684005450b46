#ifndef TAUTO_MAILBOX_MEMORY_H
#define TAUTO_MAILBOX_MEMORY_H

#include "os/mailbox.h"

struct os_mailbox {
    volatile unsigned char *memory;
    volatile unsigned char *transmit; /* what is stored there is sent; NULL: the gate is `pipe` */
    int pipe;
};

/* That much of a file, shared with whoever else maps it. NULL: errno says why; EINVAL: it has less. */
void *mailbox_map(const char *path, size_t bytes);

#endif
