/* A file that tells what to put back, should this process be killed: made whole, appended durably, and locked. */
#ifndef TAUTO_OS_JOURNAL_H
#define TAUTO_OS_JOURNAL_H

#include "os/fault.h"

#include <stddef.h>
#include <stdint.h>

/* With its first line already in it, for its owner's eyes only; its folder is made too. It stays locked until it is
 * closed or this process ends. FAULT_EEXIST. */
enum os_fault os_journal_create(const char *path, const char *line, size_t bytes, intptr_t *journal);
/* Locks one that is there. FAULT_EBUSY: another process has it. FAULT_EPERM: another user has made it, or could write
 * it. */
enum os_fault os_journal_open(const char *path, intptr_t *journal);
/* It has reached the disk when this returns; after a failure nothing of it is there. */
enum os_fault os_journal_append(intptr_t journal, const char *line, size_t bytes);
/* Another content in its place, in one step. The lock is on the old one. */
enum os_fault os_journal_replace(const char *path, const char *content, size_t bytes);
void os_journal_close(intptr_t journal);

#endif
