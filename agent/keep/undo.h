/* Putting back what a journal tells. */
#ifndef TAUTO_UNDO_H
#define TAUTO_UNDO_H

#include "keep/journal.h"
#include "keep/keeper.h"

/* Puts everything back, the last change first, and removes the journal. `troubles` gets one line for each thing that
 * could not be put back. `is_heard` false: nobody reads them; then these steps stay in the journal for another try. */
void undo_all(struct keeper *keeper, const struct journal *journal, struct text *troubles, bool is_heard);

#endif
