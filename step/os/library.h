/* Shared libraries. */
#ifndef TAUTO_STEP_LIBRARY_H
#define TAUTO_STEP_LIBRARY_H

typedef void (*os_function)(void);

/* All of its symbols are resolved now, and nobody else sees them. NULL: `why` has the reason, text that stays until the
 * next call. */
void *os_library_open(const char *path, const char **why);
/* NULL: it has none of this name. */
os_function os_library_find(void *library, const char *name);

#endif
