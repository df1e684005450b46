#include "lines.h"

#include "os/dialogue.h"

#include <stdlib.h>
#include <string.h>

bool lines_begin(struct lines *lines, size_t longest)
{
    *lines = (struct lines){.text = malloc(longest + 1), .room = longest + 1, .longest = longest};
    return lines->text != NULL;
}

void lines_free(struct lines *lines)
{
    free(lines->text);
}

bool lines_take(struct lines *lines)
{
    if (lines->begin > 0) {
        memmove(lines->text, lines->text + lines->begin, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->begin = 0;
    }
    const size_t free_bytes = lines->longest - lines->end;
    if (lines->has_ended || free_bytes == 0) {
        return false;
    }
    size_t got = 0;
    const enum os_input input = os_dialogue_read(lines->text + lines->end, free_bytes, &got);
    lines->has_ended = input == OS_INPUT_ENDED;
    lines->end += got;
    return input == OS_INPUT_SOME;
}

char *lines_next(struct lines *lines, size_t *length, bool *cut)
{
    char *const line = lines->text + lines->begin;
    const size_t waiting = lines->end - lines->begin;
    const char *const newline = memchr(line, '\n', waiting);
    *cut = newline == NULL && lines->begin == 0 && lines->end == lines->longest;
    if (newline == NULL && !*cut) {
        return NULL;
    }
    *length = *cut ? waiting : (size_t)(newline - line);
    lines->begin = *cut ? lines->end : lines->begin + *length + 1;
    line[*length] = '\0';
    return line;
}
