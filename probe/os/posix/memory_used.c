/* /proc/self/smaps_rollup and /proc/self/status (proc_pid_smaps(5), proc_pid_status(5)). The kernel adds the second's
 * numbers up in batches, so that they can lag behind; the first's are exact, and need CONFIG_PROC_PAGE_MONITOR. */
#include "os/memory_used.h"

#include "linux.h"

#include <string.h>

enum { FILE_BYTES = LINUX_STATUS_BYTES, KIB = 1024 };

/* The number behind a key at the beginning of a line; INT64_MIN: it is not there. */
static int64_t number_of(const char *text, const char *key)
{
    const size_t length = strlen(key);
    for (const char *line = text; *line != '\0';) {
        if (strncmp(line, key, length) == 0) {
            const char *end = NULL;
            const int64_t number = linux_number(line + length, &end);
            return end != line + length ? number : INT64_MIN;
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return INT64_MIN;
}

static int64_t bytes_of(const char *text, const char *key)
{
    const int64_t kib = number_of(text, key);
    return kib == INT64_MIN ? INT64_MIN : kib * KIB;
}

static int64_t sum_of(int64_t one, int64_t other)
{
    return one == INT64_MIN || other == INT64_MIN ? INT64_MIN : one + other;
}

/* Of two that may be unknown. */
static int64_t larger_of(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

void os_memory_used_read(struct os_memory_used *used)
{
    char rollup[FILE_BYTES] = "";
    char status[FILE_BYTES] = "";
    (void)linux_read_text("/proc/self/smaps_rollup", rollup, sizeof rollup);
    (void)linux_read_text("/proc/self/status", status, sizeof status);
    const int64_t exact = bytes_of(rollup, "Rss:");
    const int64_t anonymous = bytes_of(rollup, "Anonymous:");
    used->resident_bytes = exact != INT64_MIN ? exact : bytes_of(status, "VmRSS:");
    used->anonymous_bytes = anonymous != INT64_MIN ? anonymous : bytes_of(status, "RssAnon:");
    used->proportional_bytes = bytes_of(rollup, "Pss:");
    used->private_bytes = sum_of(bytes_of(rollup, "Private_Clean:"), bytes_of(rollup, "Private_Dirty:"));
    used->locked_bytes = bytes_of(status, "VmLck:");
    const int64_t peak = bytes_of(status, "VmHWM:");
    used->peak_bytes = peak == INT64_MIN ? INT64_MIN : larger_of(peak, used->resident_bytes);
    used->threads = number_of(status, "Threads:");
}
