/* A file that was made for this run, whole in memory. */
#ifndef TAUTO_STEP_MAPPED_H
#define TAUTO_STEP_MAPPED_H

#include <stddef.h>

struct mapped_file {
    char *text; /* a copy of its own, that may be written; NULL: there is none */
    size_t bytes;
};

/* All of it is read now, so that nobody faults on it later, and stays until the process ends. Returns NULL, or why it can't
 * be: then nothing is there. */
const char *mapped_file_open(struct mapped_file *file, const char *path);

#endif
