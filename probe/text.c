#include "text.h"

#include "format.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256, LONGEST_FORMATTED = 1024 };

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

char *text_reserve(struct text *text, size_t bytes)
{
    const size_t needed = text->length + bytes + 1;
    if (needed > text->room) {
        size_t room = text->room > 0 ? text->room : FIRST_ROOM;
        while (room < needed) {
            room *= 2;
        }
        char *const data = realloc(text->data, room);
        if (data == NULL) {
            text->out_of_memory = true;
            return NULL;
        }
        text->data = data;
        text->room = room;
    }
    return text->data + text->length;
}

void text_add(struct text *text, const void *data, size_t bytes)
{
    char *const place = text_reserve(text, bytes);
    if (place != NULL) {
        memcpy(place, data, bytes);
        place[bytes] = '\0';
        text->length += bytes;
    }
}

void text_add_string(struct text *text, const char *string)
{
    text_add(text, string, strlen(string));
}

void text_format(struct text *text, const char *format, ...)
{
    char formatted[LONGEST_FORMATTED];
    va_list arguments;
    va_start(arguments, format);
    const size_t length = format_arguments(formatted, sizeof formatted, format, arguments);
    va_end(arguments);
    text_add(text, formatted, length < sizeof formatted ? length : sizeof formatted - 1);
}

void text_cut(struct text *text, size_t length)
{
    if (length < text->length) {
        text->length = length;
        text->data[length] = '\0';
    }
}

const char *text_string(const struct text *text)
{
    return text->data != NULL ? text->data : "";
}
