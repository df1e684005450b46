/*
 * How much memory a load takes: what was asked for, but never so much that the machine would have to swap, or to end a
 * process.
 */
#ifndef TAUTO_LOAD_MEMORY_SHARE_H
#define TAUTO_LOAD_MEMORY_SHARE_H

#include "record/json.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct memory_share {
    const char *asked; /* of --bytes: a size, or a share such as 70%; NULL: 256 MiB, or half of what there is */
    int64_t bytes;
    int64_t reserve_bytes; /* stays free for everything else */
    _Atomic uint64_t waits;
};

/* Fills in the rest; `bytes` a multiple of `parts` * `part_bytes`. Returns an exit code; refusals are told. */
int memory_share_read(struct memory_share *share, uint32_t parts, int64_t part_bytes);
/* Is less left now than everything else needs? Then what was taken goes back, and the caller waits. Counted. */
bool memory_share_is_short(struct memory_share *share);
/* What a load adds to its report about it: memory_bytes, waits_for_memory. */
void memory_share_report(const struct memory_share *share, struct json *report);

#endif
