/*
 * Transparent huge pages: madvise(2), and what proc_pid_smaps(5) says of a mapping. A kernel that was built without them,
 * as those with PREEMPT_RT are, takes none of the advice.
 */
#define _DEFAULT_SOURCE /* madvise */
#include "os/huge_pages.h"

#include "os/settings.h"

#include "os/posix/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_HUGEPAGE
#define MADV_HUGEPAGE 14
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* since Linux 6.1 */
#endif

enum { PAGE_BYTES = 4096, KIB = 1024 };

static enum os_status advise(void *memory, size_t bytes, int advice)
{
    if (madvise(memory, bytes, advice) == 0) {
        return OS_OK;
    }
    return errno == EINVAL ? OS_UNSUPPORTED : os_status_from_errno(errno);
}

int64_t os_huge_page_bytes(void)
{
    struct text text = {0};
    const bool known = os_file_read("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &text) == FAULT_NONE;
    const int64_t bytes = known ? strtoll(text_string(&text), NULL, 10) : INT64_MIN;
    text_free(&text);
    return bytes > 0 ? bytes : INT64_MIN;
}

enum os_status os_huge_pages_ask_for(void *memory, size_t bytes)
{
    return advise(memory, bytes, MADV_HUGEPAGE);
}

void os_huge_page_split(void *memory)
{
    (void)madvise(memory, PAGE_BYTES, MADV_DONTNEED);
}

enum os_status os_huge_pages_collapse(void *memory, size_t bytes)
{
    return advise(memory, bytes, MADV_COLLAPSE);
}

/* The lines of the mapping that begins at this address: the first of them begins with it, in hexadecimal digits. */
static const char *find_mapping(const char *line, const void *memory)
{
    while (line != NULL && *line != '\0') {
        char *end = NULL;
        const unsigned long long first = strtoull(line, &end, 16);
        if (*end == '-' && first == (uintptr_t)memory) {
            return line;
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return NULL;
}

int64_t os_huge_bytes_of(const void *memory)
{
    static const char field[] = "\nAnonHugePages:";
    struct text text = {0};
    int64_t bytes = INT64_MIN;
    if (os_file_read("/proc/self/smaps", &text) == FAULT_NONE) {
        const char *const mapping = find_mapping(text_string(&text), memory);
        const char *const found = mapping == NULL ? NULL : strstr(mapping, field);
        const char *const end = mapping == NULL ? NULL : strstr(mapping, "\nVmFlags:"); /* its last line */
        if (found != NULL && (end == NULL || found < end)) {
            bytes = strtoll(found + sizeof field - 1, NULL, 10) * KIB;
        }
    }
    text_free(&text);
    return bytes;
}
