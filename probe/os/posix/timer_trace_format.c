/* The text of a trace event's `format` file, line by line:
 *     field:void * hrtimer;   offset:8;   size:8;   signed:0; */
#include "timer_trace_format.h"

#include "linux.h"

#include <string.h>

/* The number at `text`, or UINT32_MAX where there is none or it is too large to be one of ours. */
static uint32_t number_at(const char *text)
{
    enum { LARGEST = INT16_MAX }; /* of an event's number, and of an offset that an instruction can hold */
    uint32_t value = 0;
    if (*text < '0' || *text > '9') {
        return UINT32_MAX;
    }
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (uint32_t)(*text - '0');
        if (value > LARGEST) {
            return UINT32_MAX;
        }
    }
    return value;
}

/* The number behind `key` within the line that begins at `line`. */
static uint32_t number_of(const char *line, const char *key)
{
    const char *const behind = linux_behind(line, key);
    const char *const end = strchr(line, '\n');
    if (behind == NULL || (end != NULL && behind > end)) {
        return UINT32_MAX;
    }
    return number_at(behind);
}

/* Does the declaration at `text`, which ends with a semicolon, declare `name`, or an array of that name? */
static bool declares(const char *text, const char *name)
{
    const size_t length = strlen(name);
    size_t whole = strcspn(text, ";\n");
    if (text[whole] != ';') {
        return false;
    }
    if (whole > 0 && text[whole - 1] == ']') {
        while (whole > 0 && text[whole] != '[') {
            whole--;
        }
    }
    if (whole <= length || strncmp(text + whole - length, name, length) != 0) {
        return false;
    }
    const char before = text[whole - length - 1];
    return before == ' ' || before == '*';
}

bool trace_format_find_any(const char *format, const char *name, struct trace_field *field)
{
    static const char *const key = "field:";
    for (const char *at = linux_behind(format, key); at != NULL; at = linux_behind(at, key)) {
        if (declares(at, name)) {
            field->offset = number_of(at, "offset:");
            field->bytes = number_of(at, "size:");
            return field->bytes != UINT32_MAX && field->offset != UINT32_MAX;
        }
    }
    return false;
}

bool trace_format_find(const char *format, const char *name, struct trace_field *field)
{
    return trace_format_find_any(format, name, field) && (field->bytes == 4 || field->bytes == 8) &&
           field->offset % field->bytes == 0;
}

uint32_t trace_format_id(const char *format)
{
    const char *const number = linux_behind(format, "ID: ");
    return number == NULL ? UINT32_MAX : number_at(number);
}

bool trace_event_parse(struct trace_event *event, const char *id, const char *format, const char *time)
{
    event->id = number_at(id);
    return event->id != UINT32_MAX && trace_format_find(format, "hrtimer", &event->timer) &&
           trace_format_find(format, time, &event->time) && event->time.bytes == sizeof(int64_t);
}
