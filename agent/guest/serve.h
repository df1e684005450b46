/* The conversation with the lab. */
#ifndef TAUTO_GUEST_SERVE_H
#define TAUTO_GUEST_SERVE_H

#include "guest/box.h"

/* Carries out the lab's requests; the events in the box go out with the first call. True: the lab has said that it was
 * enough; false: something is wrong, which was said. */
bool serve(struct box *box);

#endif
