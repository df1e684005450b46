/* What tells threads, clocks and machines apart. */
#ifndef TAUTO_IDENTITY_H
#define TAUTO_IDENTITY_H

#include "os/os.h"

/* Of the calling thread, as the system's own tools show it; 0 where it has none. */
int64_t os_thread_number(void);
/* What the system says now of the thread of that number; its timer slack can't be told. */
void os_thread_read_back_of(int64_t number, struct os_thread_obtained *obtained);

/* Two processes that are told the same text read one and the same measuring clock. Without blanks; "unknown" where the
 * system can't tell, which is never the same as anything. */
enum { OS_CLOCK_IDENTITY_BYTES = 128 };
void os_clock_identity(char identity[OS_CLOCK_IDENTITY_BYTES]);

#endif
