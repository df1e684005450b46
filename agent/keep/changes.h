/* Changes of settings, each noted in the journal before it is made. A journal is open. */
#ifndef TAUTO_CHANGES_H
#define TAUTO_CHANGES_H

#include "keep/keeper.h"
#include "keep/words.h"

/* `undo` may be NULL: what the file says now. */
enum os_fault change_write(struct keeper *keeper, const char *path, const struct word *value, const struct word *undo);
enum os_fault change_make_folder(struct keeper *keeper, const char *path);
enum os_fault change_hold(struct keeper *keeper, const char *path, const struct word *bytes);
/* Changes nothing; what is done next may. */
enum os_fault change_note_affinities(struct keeper *keeper);
/* What stands in the file `from` goes to `to`, as far as the system lets it (agent/task_list.c). */
enum os_fault change_move_tasks(struct keeper *keeper, const char *from, const char *to);

/* What a file holds as one would write it: of `always [madvise] never` the chosen word. Its end of line stays. */
void change_simplify(struct text *content);

#endif
