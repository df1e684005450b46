/* The first program of a guest of the virtual lab: docs/guest.md */
#ifndef TAUTO_GUEST_H
#define TAUTO_GUEST_H

#include <stdbool.h>

/* Did a kernel start this program, under this name, as the guest's first? */
bool guest_is_first(const char *called);
_Noreturn void guest_be_first(void);
/* For its tests: an ordinary process with a file for memory and a pipe for the gate. Returns an exit code. */
int guest_main(int argc, char **argv);

#endif
