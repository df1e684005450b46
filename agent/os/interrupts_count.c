/*
 * /proc/interrupts (proc_interrupts(5)): a line that names the CPUs on line, then a line for each interrupt: its number
 * or name, a colon, a count for each of these CPUs, a description. Some lines have one count that belongs to no CPU.
 * /proc/softirqs looks the same, with all CPUs that there can be.
 */
#include "os/interrupts.h"

#include "os/posix/status.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MOST_COLUMNS = 4096, END = -1 };

struct reader {
    int file;
    size_t at;
    size_t length;
    char text[2048];
};

/* The next letter without taking it, END where there is none. */
static int peek(struct reader *reader)
{
    if (reader->at == reader->length) {
        const ssize_t got = read(reader->file, reader->text, sizeof reader->text);
        if (got <= 0) {
            return END;
        }
        reader->at = 0;
        reader->length = (size_t)got;
    }
    return (unsigned char)reader->text[reader->at];
}

static int take(struct reader *reader)
{
    const int letter = peek(reader);
    reader->at += letter == END ? 0 : 1;
    return letter;
}

static void skip_spaces(struct reader *reader)
{
    while (peek(reader) == ' ') {
        take(reader);
    }
}

static void skip_line(struct reader *reader)
{
    for (int letter = take(reader); letter != END && letter != '\n';) {
        letter = take(reader);
    }
}

static bool is_digit(int letter)
{
    return letter >= '0' && letter <= '9';
}

/* Digits, after spaces. False: there are none. */
static bool take_number(struct reader *reader, uint64_t *number)
{
    skip_spaces(reader);
    *number = 0;
    if (!is_digit(peek(reader))) {
        return false;
    }
    while (is_digit(peek(reader))) {
        *number = *number * 10 + (uint64_t)(take(reader) - '0');
    }
    return true;
}

static bool is_among(int64_t cpu, const int32_t *cpus, uint32_t cpu_count)
{
    for (uint32_t i = 0; i < cpu_count; i++) {
        if (cpus[i] == cpu) {
            return true;
        }
    }
    return false;
}

/* The first line, "CPU0 CPU2 …": which columns count. Returns how many columns there are, `found` of which count. */
static size_t take_columns(struct reader *reader, const int32_t *cpus, uint32_t cpu_count, bool *counts,
                           uint32_t *found)
{
    size_t columns = 0;
    uint64_t cpu = 0;
    for (*found = 0; columns < MOST_COLUMNS; columns++) {
        skip_spaces(reader);
        while (peek(reader) == 'C' || peek(reader) == 'P' || peek(reader) == 'U') {
            take(reader);
        }
        if (!take_number(reader, &cpu)) {
            break;
        }
        counts[columns] = is_among((int64_t)cpu, cpus, cpu_count);
        *found += counts[columns] ? 1U : 0U;
    }
    skip_line(reader);
    return columns;
}

static void take_name(struct reader *reader, char *name)
{
    size_t length = 0;
    skip_spaces(reader);
    while (peek(reader) != ':' && peek(reader) != '\n' && peek(reader) != END) {
        const char letter = (char)take(reader);
        if (length + 1 < OS_INTERRUPT_NAME_BYTES) {
            name[length++] = letter;
        }
    }
    name[length] = '\0';
    if (peek(reader) == ':') {
        take(reader);
    }
}

static void take_line(struct reader *reader, const bool *counts, size_t columns, struct os_interrupt_counts *total)
{
    char name[OS_INTERRUPT_NAME_BYTES];
    uint64_t sum = 0;
    uint64_t number = 0;
    size_t column = 0;
    take_name(reader, name);
    for (; column < columns && take_number(reader, &number); column++) {
        sum += counts[column] ? number : 0;
    }
    skip_line(reader);
    if (column < columns) {
        return; /* belongs to no CPU */
    }
    total->all += sum;
    if (!is_digit(name[0]) && total->names < OS_INTERRUPT_NAMES) {
        memcpy(total->named[total->names].name, name, sizeof name);
        total->named[total->names].count = sum;
        total->names++;
    }
}

static enum os_status count(const char *path, const int32_t *cpus, uint32_t cpu_count,
                            struct os_interrupt_counts *counts)
{
    struct reader reader = {.file = open(path, O_RDONLY | O_CLOEXEC)};
    bool column_counts[MOST_COLUMNS];
    uint32_t found = 0;
    *counts = (struct os_interrupt_counts){.all = 0};
    if (reader.file < 0) {
        return os_status_from_errno(errno);
    }
    const size_t columns = take_columns(&reader, cpus, cpu_count, column_counts, &found);
    while (columns > 0 && peek(&reader) != END) {
        take_line(&reader, column_counts, columns, counts);
    }
    close(reader.file);
    if (columns == 0) {
        return OS_UNSUPPORTED;
    }
    return found == cpu_count ? OS_OK : OS_INVALID;
}

enum os_status os_interrupts_count(const int32_t *cpus, uint32_t cpu_count, struct os_interrupt_counts *counts)
{
    return count("/proc/interrupts", cpus, cpu_count, counts);
}

enum os_status os_deferred_count(const int32_t *cpus, uint32_t cpu_count, struct os_interrupt_counts *counts)
{
    return count("/proc/softirqs", cpus, cpu_count, counts);
}
