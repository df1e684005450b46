#include "proc_stat.h"

#include "format.h"
#include "linux.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Fields behind the name, which stands in brackets and may hold anything; numbered as in proc(5). */
enum { FIRST_FIELD = 3, FIELD_PARENT = 4, FIELD_GROUP = 5, FIELD_FLAGS = 9, FIELD_START = 22 };

bool proc_stat_parse(struct proc_stat *stat, const char *text)
{
    const char *at = strrchr(text, ')');
    if (at == NULL || at[1] != ' ') {
        return false;
    }
    *stat = (struct proc_stat){.pid = (pid_t)linux_number(text, NULL)};
    at += 2;
    stat->state = *at;
    for (int field = FIRST_FIELD; field <= FIELD_START; field++) {
        const char *end = NULL;
        const uint64_t value = (uint64_t)linux_number(at, &end);
        if (field == FIELD_PARENT) {
            stat->parent = (pid_t)value;
        } else if (field == FIELD_GROUP) {
            stat->group = (pid_t)value;
        } else if (field == FIELD_FLAGS) {
            stat->flags = value;
        } else if (field == FIELD_START) {
            stat->start_ticks = value;
            return end != at;
        }
        at = strchr(at, ' ');
        if (at == NULL) {
            return false;
        }
        at++;
    }
    return false;
}

bool proc_stat_read(struct proc_stat *stat, pid_t process, pid_t thread)
{
    char path[64];
    char text[512];
    format_text(path, sizeof path, "/proc/%ld/task/%ld/stat", (long)process, (long)thread);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    if (got <= 0) {
        return false;
    }
    text[got] = '\0';
    return proc_stat_parse(stat, text);
}

bool proc_stat_has_ended(const struct proc_stat *stat)
{
    return stat->state == 'Z' || stat->state == 'X';
}
