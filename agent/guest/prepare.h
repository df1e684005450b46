/* What the first program of a guest sets up before it listens to the lab. */
#ifndef TAUTO_GUEST_PREPARE_H
#define TAUTO_GUEST_PREPARE_H

#include "text.h"

/* File systems, the loopback interface, the modules in /modules. `told` gets "problem=…" lines for what failed. */
void prepare_system(struct text *told);
/* "uname=…" and "cpus=…" lines. */
void describe_system(struct text *told);
/* On a guest of several CPUs, this program stays on the first, so that the others are left to who is measured. */
void stay_out_of_the_way(void);

#endif
