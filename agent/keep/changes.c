#include "keep/changes.h"

#include "keep/steps.h"
#include "os/settings.h"

#include <string.h>

static bool ends_line(const char *bytes, size_t length)
{
    return length > 0 && bytes[length - 1] == '\n';
}

/* Only a line of several words of which exactly one stands in brackets: other files may hold brackets as well. */
void change_simplify(struct text *content)
{
    const char *const data = text_string(content);
    const char *const open = strchr(data, '[');
    const char *const close = open != NULL ? strchr(open, ']') : NULL;
    const char *const end = strchr(data, '\n');
    const bool is_line = strlen(data) == content->length && (end == NULL || end[1] == '\0');
    if (!is_line || close == NULL || strchr(data, ' ') == NULL || strchr(open + 1, '[') != NULL) {
        return;
    }
    const bool begins_word = open == data || open[-1] == ' ';
    const bool ends_word = close[1] == ' ' || close[1] == '\n' || close[1] == '\0';
    const size_t length = (size_t)(close - open - 1);
    if (!begins_word || !ends_word || length == 0 || memchr(open + 1, ' ', length) != NULL) {
        return;
    }
    memmove(content->data, open + 1, length);
    text_cut(content, length);
    if (end != NULL) {
        text_add(content, "\n", 1);
    }
}

/* As the kernel's files have it: an end of line where the old content had one. */
static void add_content(struct text *line, const struct word *content, bool as_line)
{
    struct text whole = {0};
    text_add(&whole, content->bytes, content->length);
    if (as_line && !ends_line(content->bytes, content->length)) {
        text_add(&whole, "\n", 1);
    }
    words_add(line, text_string(&whole), whole.length);
    line->out_of_memory = line->out_of_memory || whole.out_of_memory;
    text_free(&whole);
}

static enum os_fault note_content(struct keeper *keeper, const char *path, const struct text *old,
                                  const struct word *undo)
{
    struct text line = {0};
    words_add_string(&line, undo != NULL ? STEP_COMMAND : STEP_WRITE);
    words_add_string(&line, path);
    if (undo != NULL) {
        add_content(&line, undo, ends_line(text_string(old), old->length));
    } else {
        words_add(&line, text_string(old), old->length);
    }
    step_end(&line);
    const enum os_fault fault = keeper_note(keeper, &line);
    text_free(&line);
    return fault;
}

static enum os_fault write_value(const char *place, const struct word *value, bool as_line, bool may_create)
{
    struct text whole = {0};
    text_add(&whole, value->bytes, value->length);
    if (as_line && !ends_line(value->bytes, value->length)) {
        text_add(&whole, "\n", 1);
    }
    const enum os_fault fault =
        whole.out_of_memory ? FAULT_ENOMEM : os_file_write(place, text_string(&whole), whole.length, may_create);
    text_free(&whole);
    return fault;
}

enum os_fault change_write(struct keeper *keeper, const char *path, const struct word *value, const struct word *undo)
{
    char place[LONGEST_PATH];
    struct text old = {0};
    enum os_fault fault = keeper_place(keeper, path, place);
    if (fault != FAULT_NONE) {
        return fault;
    }
    if (keeper->is_copy) {
        undo = NULL; /* nothing happens there that only a command undoes */
    }
    fault = os_file_read(place, &old);
    const bool creates = keeper->is_copy && fault == FAULT_ENOENT;
    if (creates) {
        fault = keeper_note_path(keeper, STEP_REMOVE, path);
    } else if (fault == FAULT_NONE || (undo != NULL && fault != FAULT_ENOENT)) {
        if (!keeper->is_copy) {
            change_simplify(&old);
        }
        fault = note_content(keeper, path, &old, undo);
    }
    if (fault == FAULT_NONE) {
        fault = write_value(place, value, creates || ends_line(text_string(&old), old.length), creates);
    }
    text_free(&old);
    return fault;
}

enum os_fault change_make_folder(struct keeper *keeper, const char *path)
{
    char place[LONGEST_PATH];
    enum os_fault fault = keeper_place(keeper, path, place);
    if (fault == FAULT_NONE && os_file_kind(place) != OS_KIND_NONE) {
        fault = FAULT_EEXIST; /* somebody else's: undoing must not remove it */
    }
    if (fault == FAULT_NONE) {
        fault = keeper_note_path(keeper, STEP_RMDIR, path);
    }
    return fault == FAULT_NONE ? os_folder_make(place) : fault;
}

enum os_fault change_hold(struct keeper *keeper, const char *path, const struct word *bytes)
{
    char place[LONGEST_PATH];
    struct text old = {0};
    enum os_fault fault = keeper_place(keeper, path, place);
    if (keeper->hold_count == MOST_HOLDS) {
        fault = FAULT_EMFILE;
    }
    if (fault == FAULT_NONE && keeper->is_copy) {
        fault = os_file_read(place, &old);
        fault = fault == FAULT_NONE ? note_content(keeper, path, &old, NULL) : fault;
        text_free(&old);
    }
    if (fault == FAULT_NONE) {
        fault = keeper_note_path(keeper, STEP_HOLD, path);
    }
    intptr_t handle = 0;
    if (fault == FAULT_NONE) {
        fault = os_file_open(place, &handle);
    }
    if (fault != FAULT_NONE) {
        return fault;
    }
    fault = os_file_put(handle, bytes->bytes, bytes->length);
    if (fault != FAULT_NONE) {
        os_file_close(handle);
        return fault;
    }
    keeper->holds[keeper->hold_count++] = handle;
    return FAULT_NONE;
}

static void add_affinity(void *argument, const struct os_thread_identity *identity, const char *cpus)
{
    struct text *const lines = argument;
    words_add_string(lines, STEP_AFFINITY);
    words_add_number(lines, (unsigned long long)identity->process);
    words_add_number(lines, (unsigned long long)identity->thread);
    words_add_number(lines, identity->start);
    words_add_string(lines, cpus);
    step_end(lines);
}

enum os_fault change_note_affinities(struct keeper *keeper)
{
    if (keeper->is_copy) {
        return FAULT_NONE; /* nobody runs there */
    }
    struct text lines = {0};
    enum os_fault fault = os_threads_visit(add_affinity, &lines);
    if (fault == FAULT_NONE && lines.length > 0) {
        fault = keeper_note(keeper, &lines);
    }
    text_free(&lines);
    return fault;
}
