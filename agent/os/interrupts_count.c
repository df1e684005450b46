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

static void take_line(struct reader *reader, const bool *counts, size_t columns, struct os_interrupt_list *list)
{
    char name[OS_INTERRUPT_NAME_BYTES] = "";
    uint64_t number = 0;
    size_t column = 0;
    const size_t begin = list->lines.length;
    take_name(reader, name);
    text_add(&list->lines, name, sizeof name);
    for (; column < columns && take_number(reader, &number); column++) {
        if (counts[column]) {
            text_add(&list->lines, &number, sizeof number);
        }
    }
    skip_line(reader);
    if (column < columns) { /* belongs to no CPU */
        text_cut(&list->lines, begin);
    }
}

static enum os_status read_list(const char *path, struct os_interrupt_list *list, const int32_t *cpus,
                                uint32_t cpu_count)
{
    struct reader reader = {.file = open(path, O_RDONLY | O_CLOEXEC)};
    bool column_counts[MOST_COLUMNS];
    uint32_t found = 0;
    *list = (struct os_interrupt_list){.cpu_count = cpu_count};
    if (reader.file < 0) {
        return os_status_from_errno(errno);
    }
    const size_t columns = take_columns(&reader, cpus, cpu_count, column_counts, &found);
    while (columns > 0 && peek(&reader) != END) {
        take_line(&reader, column_counts, columns, list);
    }
    close(reader.file);
    if (columns == 0) {
        return OS_UNSUPPORTED;
    }
    if (list->lines.out_of_memory) {
        return OS_NO_MEMORY;
    }
    return found == cpu_count ? OS_OK : OS_INVALID;
}

enum os_status os_interrupts_list(struct os_interrupt_list *list, const int32_t *cpus, uint32_t cpu_count)
{
    return read_list("/proc/interrupts", list, cpus, cpu_count);
}

enum os_status os_deferred_list(struct os_interrupt_list *list, const int32_t *cpus, uint32_t cpu_count)
{
    return read_list("/proc/softirqs", list, cpus, cpu_count);
}

void os_interrupt_list_free(struct os_interrupt_list *list)
{
    text_free(&list->lines);
}

/* ---- Between two lists ------------------------------------------------------ */

static size_t line_bytes(const struct os_interrupt_list *list)
{
    return OS_INTERRUPT_NAME_BYTES + list->cpu_count * sizeof(uint64_t);
}

static const char *line_at(const struct os_interrupt_list *list, size_t number)
{
    const size_t at = number * line_bytes(list);
    return at + line_bytes(list) <= list->lines.length ? list->lines.data + at : NULL;
}

/* NULL: there is none of this name. */
static const char *line_named(const struct os_interrupt_list *list, const char *name)
{
    const char *line = NULL;
    for (size_t i = 0; (line = line_at(list, i)) != NULL && strcmp(line, name) != 0; i++) {
    }
    return line;
}

static uint64_t count_in(const char *line, uint32_t column)
{
    uint64_t count = 0;
    if (line != NULL) {
        memcpy(&count, line + OS_INTERRUPT_NAME_BYTES + column * sizeof count, sizeof count);
    }
    return count;
}

/* Linux counts in 32 bits, which a timer of 1 kHz uses up in 50 days. Only that of a device may also begin anew with
 * another device, which shows in a lot being missing to the end of the 32 bits. */
static uint64_t added(const char *name, uint64_t before, uint64_t after)
{
    const uint64_t around = UINT64_C(1) << 32;
    if (after >= before) {
        return after - before;
    }
    const bool goes_on = before < around && (!is_digit(name[0]) || around - before + after <= around / 2);
    return goes_on ? around - before + after : after;
}

void os_interrupts_between(const struct os_interrupt_list *before, const struct os_interrupt_list *after,
                           struct os_interrupt_counts *counts)
{
    const char *line = NULL;
    *counts = (struct os_interrupt_counts){.all = 0};
    for (size_t i = 0; (line = line_at(after, i)) != NULL; i++) {
        const char *const earlier = line_named(before, line);
        uint64_t sum = 0;
        for (uint32_t column = 0; column < after->cpu_count; column++) {
            sum += added(line, count_in(earlier, column), count_in(line, column));
        }
        counts->all += sum;
        if (!is_digit(line[0]) && sum > 0 && counts->names < OS_INTERRUPT_NAMES) {
            memcpy(counts->named[counts->names].name, line, OS_INTERRUPT_NAME_BYTES);
            counts->named[counts->names].count = sum;
            counts->names++;
        }
    }
}
