/* What a system of its own says of its CPUs (alone.c). */
#ifndef TAUTO_NONE_ALONE_H
#define TAUTO_NONE_ALONE_H

#include <stdint.h>

/* Those where the calling thread may run, a bit each; INT64_MIN where that can't be told. */
int64_t alone_mask_of_cpus(void);

#endif
