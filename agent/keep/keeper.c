#include "keep/keeper.h"

#include "keep/steps.h"
#include "format.h"
#include "os/journal.h"

#include <string.h>

static bool goes_up(const char *path)
{
    for (const char *at = strstr(path, "/.."); at != NULL; at = strstr(at + 1, "/..")) {
        if (at[3] == '/' || at[3] == '\0') {
            return true;
        }
    }
    return false;
}

enum os_fault keeper_place(const struct keeper *keeper, const char *path, char *place)
{
    if (path[0] != '/' || goes_up(path)) {
        return FAULT_EINVAL;
    }
    const size_t length = format_text(place, LONGEST_PATH, "%s%s", keeper->root, path);
    return length < LONGEST_PATH ? FAULT_NONE : FAULT_ENAMETOOLONG;
}

enum os_fault keeper_note(struct keeper *keeper, const struct text *lines)
{
    return lines->out_of_memory ? FAULT_ENOMEM : os_journal_append(keeper->journal, lines->data, lines->length);
}

enum os_fault keeper_note_path(struct keeper *keeper, const char *step, const char *path)
{
    struct text line = {0};
    words_add_string(&line, step);
    words_add_string(&line, path);
    step_end(&line);
    const enum os_fault fault = keeper_note(keeper, &line);
    text_free(&line);
    return fault;
}
