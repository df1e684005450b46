/* The files of the kernel's tracing, by their names below tracefs' own folder, which is held open. */
#ifndef TAUTO_POSIX_TRACEFS_H
#define TAUTO_POSIX_TRACEFS_H

#include "os/os.h"

/* Where tracefs is mounted; otherwise a mount that has no place (fsmount), is seen by nobody else and ends with its
 * descriptor. OS_UNSUPPORTED: the kernel has none, or it is not mounted and this kernel can't do the other. */
enum os_status tracefs_open(int *folder);

/* The whole file, at most `bytes` - 1 of it, without the line end at its end. */
enum os_status tracefs_read(int folder, const char *path, char *text, size_t bytes);
enum os_status tracefs_write(int folder, const char *path, const char *text);
/* Is `word` among the words of `text`? */
bool tracefs_has_word(const char *text, const char *word);
/* Calls for each name in a folder, but . and .. */
enum os_status tracefs_names(int folder, const char *path, void (*visit)(void *argument, const char *name), void *argument);

#endif
