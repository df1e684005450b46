/* What the kernel says of its trace events, pages of its trace buffer, and its lines about a thread. */
#include "fuzz.h"

#include "os/posix/proc_stat.h"
#include "os/posix/timer_trace_format.h"
#include "os/posix/trace_page.h"
#include "os/posix/tracefs.h"

#include <stdlib.h>

static void read_format(const char *text)
{
    struct trace_event event;
    struct trace_field field;
    (void)trace_event_parse(&event, text, text, "softexpires");
    (void)trace_format_find(text, "commit", &field);
    (void)trace_format_id(text);
    (void)tracefs_has_word(text, "timerlat");
}

static void read_page(const uint8_t *data, size_t size)
{
    uint8_t *const copy = (uint8_t *)fuzz_string(data, size);
    for (size_t commit_bytes = 4; commit_bytes <= 8; commit_bytes += 4) {
        struct trace_page page;
        const unsigned char *event = NULL;
        size_t length = 0;
        uint64_t time_ns = 0;
        trace_page_begin(&page, copy, size, commit_bytes);
        while (trace_page_next(&page, &event, &length, &time_ns)) {
            if (event < copy || event + length > copy + size) {
                abort();
            }
        }
    }
    free(copy);
}

static void read_thread(const char *text)
{
    struct proc_stat stat;
    (void)proc_stat_parse(&stat, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    char *const text = fuzz_string(data + 1, size - 1);
    switch (data[0]) {
    case 'f':
        read_format(text);
        break;
    case 'p':
        read_page(data + 1, size - 1);
        break;
    default:
        read_thread(text);
        break;
    }
    free(text);
    return 0;
}
