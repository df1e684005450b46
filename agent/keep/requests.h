/* What the keeper can be asked; docs/agent.md. */
#ifndef TAUTO_REQUESTS_H
#define TAUTO_REQUESTS_H

#include "keep/keeper.h"

struct answer {
    enum os_fault fault;
    struct text body; /* the content, or why not in words */
};

/* `line` is taken apart. `*id` is what the answer begins with; it lies in the line. */
void request_serve(struct keeper *keeper, char *line, size_t length, const char **id, struct answer *answer);
/* Puts back what this keeper changed, for want of anybody who could ask. */
void request_end(struct keeper *keeper);

#endif
