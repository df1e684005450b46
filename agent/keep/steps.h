/* The steps of the journal: a word for what undoes a change, and what that needs. */
#ifndef TAUTO_STEPS_H
#define TAUTO_STEPS_H

#include "keep/words.h"

#define STEP_WRITE "write"       /* PATH CONTENT: write this, unless it stands there */
#define STEP_COMMAND "command"   /* PATH TEXT: write this, whatever stands there */
#define STEP_REMOVE "remove"     /* PATH: the file was not there (copied trees only) */
#define STEP_RMDIR "rmdir"       /* PATH */
#define STEP_MOVE "move"         /* FROM TO TASKS: what is in TO, but these, goes back to FROM */
#define STEP_HOLD "hold"         /* PATH: ends with the keeper */
#define STEP_AFFINITY "affinity" /* PROCESS THREAD START CPUS */
#define STEP_LEFT "left"         /* the keeper was told to leave it */

static inline void step_end(struct text *line)
{
    text_add(line, "\n", 1);
}

#endif
