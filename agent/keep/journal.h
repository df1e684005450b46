/*
 * The undo journal: text, one line for each step, each on the disk before the change that it undoes. docs/agent.md has
 * its format. It names the start of the system it belongs to: after another, nothing of it is in force any more.
 */
#ifndef TAUTO_AGENT_JOURNAL_H
#define TAUTO_AGENT_JOURNAL_H

#include "os/fault.h"
#include "text.h"

#include <stdint.h>

enum journal_standing {
    JOURNAL_VOID,   /* of an earlier start of the system, or without a first line: nothing is in force */
    JOURNAL_ALIVE,  /* its keeper lives and will undo it */
    JOURNAL_ORPHAN, /* its keeper has ended without undoing it */
    JOURNAL_LEFT,   /* left in force on purpose */
};

struct journal {
    struct text text; /* of the file; the strings below lie in it */
    char *name;
    char *since;
    int64_t keeper;
    enum journal_standing standing;
    const char *header; /* the first line, whole */
    const char **steps; /* the other whole lines, as they stand there, in their order */
    size_t step_count;
};

/* The first line of a new one. */
void journal_header(struct text *line, const char *name);
/* For looking only: whoever wrote it. FAULT_ENOENT: there is none. */
enum os_fault journal_read(struct journal *journal, const char *path);
/* Of one that os_journal_open has found trustworthy, or that is this keeper's own: only such a one is obeyed. */
enum os_fault journal_read_open(struct journal *journal, intptr_t file);
void journal_free(struct journal *journal);

#endif
