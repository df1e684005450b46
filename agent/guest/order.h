/* What is to be started: the words of a program and its environment, as a START command has them. */
#ifndef TAUTO_GUEST_ORDER_H
#define TAUTO_GUEST_ORDER_H

#include "guest/box.h"

struct order {
    struct text payload; /* the words are in it */
    char **argv;         /* both end with NULL */
    char **environment;
};

/* False: it is broken, which was said; nothing is to be freed then. */
bool order_read(struct order *order, const struct box *box, const struct box_command *command);
void order_free(struct order *order);

#endif
