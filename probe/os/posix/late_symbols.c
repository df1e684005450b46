/* Names of the kernel's functions: /proc/kallsyms has a line for each, in no order. */
#include "os/late_trace.h"

#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 32768 };

/* The nearest function at or below each address. */
struct nearest {
    uint64_t begin; /* 0: none */
    char name[96];
};

static const char functions[] = "tTwW";
static const char digits[] = "0123456789abcdef";

/* "ffffffff810002b8 t run_init_process", and behind a tabulator "[module]". NULL where it is no function. */
static const char *parse(char *line, uint64_t *begin)
{
    char *end = line;
    *begin = 0;
    for (const char *digit = NULL; *end != '\0' && (digit = strchr(digits, *end)) != NULL; end++) {
        *begin = *begin * 16 + (uint64_t)(digit - digits);
    }
    if (end == line || end[0] != ' ' || end[1] == '\0' || strchr(functions, end[1]) == NULL || end[2] != ' ') {
        return NULL;
    }
    char *const name = end + 3;
    char *const tabulator = strchr(name, '\t');
    if (tabulator != NULL) {
        *tabulator = ' ';
    }
    return name;
}

/* All that lie at or above `begin` and have a function further below, or none: the addresses ascend. */
static void offer(struct nearest *nearest, const uint64_t *addresses, size_t count, uint64_t begin, const char *name)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (addresses[middle] < begin) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    /* The nearer ones come first: who has a nearer function already, so do all behind. */
    for (size_t i = low; i < count && nearest[i].begin < begin; i++) {
        nearest[i].begin = begin;
        const size_t length = strlen(name);
        const size_t kept = length < sizeof nearest[i].name - 1 ? length : sizeof nearest[i].name - 1;
        memcpy(nearest[i].name, name, kept);
        nearest[i].name[kept] = '\0';
    }
}

/* Every whole line in `text`. Returns how many bytes those take. */
static size_t look_at_lines(char *text, size_t length, struct nearest *nearest, const uint64_t *addresses, size_t count,
                            bool *told)
{
    size_t done = 0;
    for (char *end = memchr(text, '\n', length); end != NULL; end = memchr(text + done, '\n', length - done)) {
        *end = '\0';
        uint64_t begin = 0;
        const char *const name = parse(text + done, &begin);
        if (name != NULL && begin != 0) {
            *told = true;
            offer(nearest, addresses, count, begin, name);
        }
        done = (size_t)(end - text) + 1;
    }
    return done;
}

static enum os_status find(int file, struct nearest *nearest, const uint64_t *addresses, size_t count)
{
    char *const text = malloc(READ_BYTES);
    if (text == NULL) {
        return OS_NO_MEMORY;
    }
    bool told = false;
    size_t filled = 0;
    ssize_t got = read(file, text, READ_BYTES);
    while (got > 0) {
        filled += (size_t)got;
        const size_t done = look_at_lines(text, filled, nearest, addresses, count, &told);
        memmove(text, text + done, filled - done);
        filled = filled - done < READ_BYTES ? filled - done : 0; /* a line that long is none */
        got = read(file, text + filled, READ_BYTES - filled);
    }
    const enum os_status status = got < 0 ? os_status_from_errno(errno) : OS_OK;
    free(text);
    return status == OS_OK && !told ? OS_NOT_PERMITTED : status;
}

enum os_status os_kernel_symbols(const uint64_t *addresses, size_t count,
                                 void (*visit)(void *argument, uint64_t address, const char *name), void *argument)
{
    enum { FARTHEST = 1 << 20 }; /* no function is that long: the address lies in none that is told */
    const int file = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return os_status_from_errno(errno);
    }
    struct nearest *const nearest = calloc(count > 0 ? count : 1, sizeof *nearest);
    const enum os_status status = nearest == NULL ? OS_NO_MEMORY : find(file, nearest, addresses, count);
    close(file);
    for (size_t i = 0; i < count && status == OS_OK; i++) {
        if (nearest[i].begin != 0 && addresses[i] - nearest[i].begin < FARTHEST) {
            visit(argument, addresses[i], nearest[i].name);
        }
    }
    free(nearest);
    return status;
}
