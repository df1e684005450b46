/*
 * Huge pages that the system puts in the place of many ordinary ones where it is asked to, and takes apart again. Whether
 * it does is its own decision, so what came of it can be counted.
 */
#ifndef TAUTO_OS_HUGE_PAGES_H
#define TAUTO_OS_HUGE_PAGES_H

#include "os/os.h"

/* Of one of them; INT64_MIN where this system has none, or does not tell. */
int64_t os_huge_page_bytes(void);
/* For memory that is not touched yet. OS_UNSUPPORTED: this system never does it. */
enum os_status os_huge_pages_ask_for(void *memory, size_t bytes);
/* One ordinary page is given back, wherefore the huge page that it was part of is taken apart. */
void os_huge_page_split(void *memory);
/* Puts ordinary pages together, now. OS_UNSUPPORTED: this system does it in its own time only. */
enum os_status os_huge_pages_collapse(void *memory, size_t bytes);
/* How much of this memory, which was asked for as a whole, is huge pages now; INT64_MIN where that can't be told. */
int64_t os_huge_bytes_of(const void *memory);

#endif
