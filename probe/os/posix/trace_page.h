/* The pages that the kernel's trace buffer hands out (trace_pipe_raw; include/linux/ring_buffer.h): a head, then one
 * entry after the other, each with its time as what has passed since the one before. */
#ifndef TAUTO_POSIX_TRACE_PAGE_H
#define TAUTO_POSIX_TRACE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_page {
    const unsigned char *at;
    const unsigned char *end;
    uint64_t time_ns;
};

/* `commit_bytes`: the width of the head's second field, 4 or 8, as the kernel's file `header_page` has it. */
void trace_page_begin(struct trace_page *page, const void *bytes, size_t length, size_t commit_bytes);
/* The next event: its content, its length, and when it was. False at the end of the page, and where it makes no
 * sense. */
bool trace_page_next(struct trace_page *page, const unsigned char **event, size_t *length, uint64_t *time_ns);

#endif
