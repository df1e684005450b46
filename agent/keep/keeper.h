/* What the keeper of settings knows of itself. */
#ifndef TAUTO_KEEPER_H
#define TAUTO_KEEPER_H

#include "os/fault.h"
#include "text.h"

#include <stdint.h>

enum { MOST_HOLDS = 16, LONGEST_PATH = 4096 };

struct keeper {
    const char *root; /* stands before all paths; "" for the system's own */
    bool is_copy;     /* a tree of plain files, without the magic of the system's own */
    char journal_path[LONGEST_PATH]; /* with the root */
    bool has_journal;
    intptr_t journal;
    intptr_t holds[MOST_HOLDS];
    size_t hold_count;
};

/* Where a path of a request lies. FAULT_EINVAL: it does not begin at the root, or leaves it. */
enum os_fault keeper_place(const struct keeper *keeper, const char *path, char *place);
/* Writes one or more whole lines into the journal. */
enum os_fault keeper_note(struct keeper *keeper, const struct text *lines);
/* One line: a step that needs a path only. */
enum os_fault keeper_note_path(struct keeper *keeper, const char *step, const char *path);

#endif
