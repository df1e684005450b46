/* The caches of the CPUs, and ways past them: for loads. */
#ifndef TAUTO_OS_CACHES_H
#define TAUTO_OS_CACHES_H

#include "os/os.h"

enum { OS_CACHE_LINE_BYTES = 64 }; /* as long as any line of today's last caches, or a part of one */

/* Size of the largest cache that this CPU uses, whoever shares it. 0 where the system does not tell. */
int64_t os_last_cache_bytes(int32_t cpu);

/* Fills memory (whole lines) with `pattern`, past the caches where the CPU has such stores: what they write reaches the
 * memory itself, and nothing is read for it. */
void os_store_past_caches(void *memory, size_t bytes, uint64_t pattern);
/* By which instruction. NULL: this CPU has none that we know, and the stores are ordinary ones, which go through the
 * caches. */
const char *os_store_past_caches_way(void);

#endif
