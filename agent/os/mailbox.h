/*
 * How a program in a virtual machine speaks with the lab outside while no virtual time passes: memory that both see (the
 * mailbox), and a device at which the machine stands still until it has been answered (the gate). docs/guest.md
 */
#ifndef TAUTO_MAILBOX_H
#define TAUTO_MAILBOX_H

#include "os/os.h"
#include "text.h"

struct os_mailbox;

/* The two devices of the virtual machine that this program runs in. `problem`: what is missing, in words. */
enum os_status os_mailbox_open(struct os_mailbox **mailbox, size_t bytes, struct text *problem);
/* For trials without a machine: a file for memory, and the number of an open pipe of one packet as the gate. */
enum os_status os_mailbox_open_file(struct os_mailbox **mailbox, size_t bytes, const char *path, intptr_t gate,
                                    struct text *problem);

void os_mailbox_store(struct os_mailbox *mailbox, size_t offset, const void *data, size_t bytes);
void os_mailbox_load(const struct os_mailbox *mailbox, size_t offset, void *data, size_t bytes);
/* Passes the gate: returns when the lab has answered. OS_CLOSED: nobody is there (trials only). */
enum os_status os_mailbox_call(struct os_mailbox *mailbox);

#endif
