/* Which function did what: chains of callers, each with how often. Only of the thread that runs the steps. */
#ifndef TAUTO_STEP_SITES_H
#define TAUTO_STEP_SITES_H

#include "explain.h"

#include <string.h>

enum { CHAIN_LIMIT = 48, SYSTEM_CALLS_NONE = -1 };

/* Return addresses, the innermost first, without those of this program. */
struct chain {
    int count;
    bool from_step; /* all callers up to this program's loop are known */
    void *addresses[CHAIN_LIMIT];
};

/* Something that was seen. */
struct seen {
    enum explained_kind kind;
    int64_t call;     /* or SYSTEM_CALLS_NONE, and then: */
    const char *name; /* text that stays */
    int64_t times;
    int64_t took_ns; /* 0: not timed */
    /* Writes what else there is to say of it, asked once for each chain; NULL: nothing. */
    void (*describe)(const void *given, char *text, size_t bytes);
    const void *given;
};

/* An address that the kernel told as a number. */
static inline const void *pointer_at(uint64_t address)
{
    const uintptr_t number = (uintptr_t)address;
    const void *pointer = NULL;
    memcpy(&pointer, &number, sizeof pointer);
    return pointer;
}

/* Is what this thread does now the step's doing? */
extern _Thread_local volatile bool sites_watch;

void sites_open(struct explained *explained);
/* The calls of a step are counted anew. */
void sites_begin(int64_t step, enum explained_step which);
void sites_end(int64_t counted[EXPLAINED_COLUMNS]);
/* Who called what this program has put in the place of a function or of a system call. */
void chain_of_callers(struct chain *chain);
/* That of an instruction, and of who called its function where that is known. */
void chain_of_instruction(struct chain *chain, const void *instruction, const void *caller);
/* What this program itself does between the steps' beginning and end is left out. */
void sites_note(const struct chain *chain, const struct seen *seen);
/* The step did so much that nobody has a place for. */
void sites_lose(int64_t times);

#endif
