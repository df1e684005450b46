/* The programs that the lab has started, by the lab's own numbers for them. */
#ifndef TAUTO_GUEST_PROGRAMS_H
#define TAUTO_GUEST_PROGRAMS_H

#include "guest/box.h"
#include "os/children.h"

struct program {
    uint32_t number;
    struct os_child *child;
    struct text input; /* what its pipe did not take yet, from `input_taken` on */
    size_t input_taken;
    bool input_ends; /* after that */
};

struct programs {
    struct program program[MOST_CHILDREN];
    size_t count;
    size_t input_bytes; /* of all of them, waiting */
};

/* All of these: false when the request is broken, which was said. A number that is not known belongs to a program that
 * has ended meanwhile; what was meant for it is thrown away. */
bool programs_start(struct programs *programs, struct box *box, const struct box_command *command);
bool programs_write(struct programs *programs, const struct box *box, const struct box_command *command);
void programs_close_input(struct programs *programs, const struct box_command *command);
bool programs_signal(const struct programs *programs, const struct box *box, const struct box_command *command);
/* Lets the system run until there is an event, at most for `most_ns`. */
void programs_run(struct programs *programs, struct box *box, int64_t most_ns);

#endif
