/* Standard input, line by line, without ever waiting for it. */
#ifndef TAUTO_LINES_H
#define TAUTO_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct lines {
    char *text;
    size_t begin; /* of what was not handed out yet */
    size_t end;
    size_t room;
    size_t longest; /* longer lines are cut there */
    bool has_ended;
};

/* False: no memory. */
bool lines_begin(struct lines *lines, size_t longest);
void lines_free(struct lines *lines);
/* Takes in what has come, as far as there is room. True: there was something, so somebody lives at the other end. */
bool lines_take(struct lines *lines);
/* The next whole line, without its end, ending with NUL; it holds until the next call of either function. NULL: there
 * is none yet. `length` tells of NULs within. A line that is too long comes as far as it fits, `cut` is then set, and
 * its rest comes as if it were a line. */
char *lines_next(struct lines *lines, size_t *length, bool *cut);

#endif
