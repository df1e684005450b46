#include "keep/requests.h"

#include "keep/affinities.h"
#include "keep/changes.h"
#include "keep/journal.h"
#include "keep/steps.h"
#include "keep/undo.h"
#include "format.h"
#include "os/journal.h"
#include "os/os.h"
#include "os/settings.h"
#include "record/json.h"

#include <inttypes.h>
#include <string.h>

/* A request's words behind its name, and what becomes of it. */
struct request {
    struct keeper *keeper;
    const struct word *word;
    size_t count;
    struct text *body;
};

typedef enum os_fault (*handler)(const struct request *request);

static const char *path_of(const struct request *request)
{
    return request->word[0].bytes;
}

/* ---- Looking ---------------------------------------------------------------- */

static enum os_fault serve_read(const struct request *request)
{
    char place[LONGEST_PATH];
    const enum os_fault fault = keeper_place(request->keeper, path_of(request), place);
    return fault == FAULT_NONE ? os_file_read(place, request->body) : fault;
}

static enum os_fault serve_names(const struct request *request)
{
    char place[LONGEST_PATH];
    const enum os_fault fault = keeper_place(request->keeper, path_of(request), place);
    return fault == FAULT_NONE ? os_folder_names(place, request->body) : fault;
}

static enum os_fault serve_kind(const struct request *request)
{
    static const char *const names[] = {[OS_KIND_NONE] = "none", [OS_KIND_FILE] = "file", [OS_KIND_FOLDER] = "folder"};
    char place[LONGEST_PATH];
    const enum os_fault fault = keeper_place(request->keeper, path_of(request), place);
    if (fault == FAULT_NONE) {
        text_add_string(request->body, names[os_file_kind(place)]);
    }
    return fault;
}

static const char *string(const char *string_or_null)
{
    return string_or_null != NULL ? string_or_null : "";
}

static enum os_fault serve_state(const struct request *request)
{
    struct journal journal;
    enum os_fault fault = journal_read(&journal, request->keeper->journal_path);
    const bool in_force = fault == FAULT_NONE && journal.standing != JOURNAL_VOID;
    if (in_force) {
        struct json json;
        json_begin(&json);
        json_open_object(&json, NULL);
        json_text(&json, "name", string(journal.name));
        json_text(&json, "since", string(journal.since));
        json_integer_or_null(&json, "keeper", journal.standing == JOURNAL_ALIVE ? journal.keeper : INT64_MIN);
        json_boolean(&json, "left", journal.standing == JOURNAL_LEFT);
        json_close_object(&json);
        fault = json.out_of_memory ? FAULT_ENOMEM : FAULT_NONE;
        if (fault == FAULT_NONE) {
            text_add_string(request->body, json.text);
        }
        json_free(&json);
    } else if (fault == FAULT_NONE || fault == FAULT_ENOENT || fault == FAULT_ENOTDIR) {
        fault = FAULT_NONE;
        text_add_string(request->body, "null");
    }
    journal_free(&journal);
    return fault;
}

/* ---- The journal's life -------------------------------------------------------- */

static void describe(struct text *body, const struct journal *journal)
{
    text_format(body, "'%s', since %s", string(journal->name), string(journal->since));
    if (journal->standing == JOURNAL_ALIVE) {
        text_format(body, ", by process %" PRId64 ", which is still at work", journal->keeper);
    } else if (journal->standing == JOURNAL_LEFT) {
        text_add_string(body, ", left in force");
    } else {
        text_add_string(body, ", by a process that was killed");
    }
}

/* Nothing of it is in force any more. */
static enum os_fault remove_void(const struct request *request, const struct journal *journal)
{
    const enum os_fault fault = os_file_remove(request->keeper->journal_path);
    if (fault == FAULT_NONE) {
        text_format(request->body, "The journal of '%s', since %s, was of an earlier start of the system: removed.\n",
                    string(journal->name), string(journal->since));
    }
    return fault == FAULT_ENOENT ? FAULT_NONE : fault;
}

static enum os_fault clear_the_way(const struct request *request)
{
    struct journal journal;
    enum os_fault fault = journal_read(&journal, request->keeper->journal_path);
    if (fault == FAULT_NONE && journal.standing == JOURNAL_VOID) {
        fault = remove_void(request, &journal);
    } else if (fault == FAULT_NONE) {
        fault = FAULT_EEXIST;
        describe(request->body, &journal);
    } else if (fault == FAULT_ENOENT) {
        fault = FAULT_NONE;
    }
    journal_free(&journal);
    return fault;
}

static enum os_fault serve_begin(const struct request *request)
{
    struct keeper *const keeper = request->keeper;
    if (keeper->has_journal) {
        text_add_string(request->body, "this settings guard has begun already");
        return FAULT_EBUSY;
    }
    struct text line = {0};
    enum os_fault fault = clear_the_way(request);
    if (fault == FAULT_NONE) {
        journal_header(&line, request->word[0].bytes);
        fault = line.out_of_memory
                    ? FAULT_ENOMEM
                    : os_journal_create(keeper->journal_path, line.data, line.length, &keeper->journal);
        keeper->has_journal = fault == FAULT_NONE;
    }
    if (keeper->has_journal && !keeper->is_copy) {
        os_stand_firm(); /* from now on there is something to put back */
    }
    text_free(&line);
    if (fault != FAULT_NONE && request->body->length == 0) {
        text_format(request->body, "the journal %s can't be made: %s", keeper->journal_path, os_fault_text(fault));
    }
    return fault;
}

static void close_journal(struct keeper *keeper)
{
    os_journal_close(keeper->journal);
    keeper->has_journal = false;
}

static enum os_fault serve_leave(const struct request *request)
{
    struct keeper *const keeper = request->keeper;
    if (keeper->hold_count > 0) {
        text_add_string(request->body, "what is held open would end with this process");
        return FAULT_EBUSY;
    }
    static const char line[] = STEP_LEFT "\n";
    const enum os_fault fault = os_journal_append(keeper->journal, line, sizeof line - 1);
    if (fault == FAULT_NONE) {
        close_journal(keeper);
    }
    return fault;
}

static enum os_fault undo_own(struct keeper *keeper, struct text *troubles, bool is_heard)
{
    struct journal journal;
    const enum os_fault fault = journal_read_open(&journal, keeper->journal);
    if (fault == FAULT_NONE) {
        undo_all(keeper, &journal, troubles, is_heard);
    } else {
        text_format(troubles, "the journal %s can't be read: %s\n", keeper->journal_path, os_fault_text(fault));
    }
    journal_free(&journal);
    close_journal(keeper);
    return FAULT_NONE;
}

static enum os_fault serve_undo(const struct request *request)
{
    return undo_own(request->keeper, request->body, true);
}

static enum os_fault restore_locked(const struct request *request, intptr_t file)
{
    struct journal journal;
    enum os_fault fault = journal_read_open(&journal, file);
    if (fault == FAULT_NONE && journal.standing == JOURNAL_ALIVE) {
        describe(request->body, &journal);
        fault = FAULT_EBUSY;
    } else if (fault == FAULT_NONE && journal.standing == JOURNAL_VOID) {
        fault = remove_void(request, &journal);
    } else if (fault == FAULT_NONE) {
        undo_all(request->keeper, &journal, request->body, true);
    }
    journal_free(&journal);
    return fault;
}

static enum os_fault serve_restore(const struct request *request)
{
    intptr_t journal = 0;
    enum os_fault fault = FAULT_EBUSY;
    if (!request->keeper->has_journal) {
        fault = os_journal_open(request->keeper->journal_path, &journal);
    }
    if (fault == FAULT_EBUSY) {
        text_add_string(request->body, "its settings guard is still at work, or another restores it now");
    } else if (fault == FAULT_EPERM) {
        text_format(request->body, "the journal %s is another user's, or others may write it: look into it first",
                    request->keeper->journal_path);
    }
    if (fault != FAULT_NONE) {
        return fault == FAULT_ENOENT ? FAULT_NONE : fault; /* nothing is in force */
    }
    fault = restore_locked(request, journal);
    os_journal_close(journal);
    return fault;
}

/* ---- Changing ---------------------------------------------------------------- */

static enum os_fault serve_write(const struct request *request)
{
    return change_write(request->keeper, path_of(request), &request->word[1],
                        request->count > 2 ? &request->word[2] : NULL);
}

static enum os_fault serve_mkdir(const struct request *request)
{
    return change_make_folder(request->keeper, path_of(request));
}

static enum os_fault serve_move(const struct request *request)
{
    return change_move_tasks(request->keeper, path_of(request), request->word[1].bytes);
}

static enum os_fault serve_hold(const struct request *request)
{
    return change_hold(request->keeper, path_of(request), &request->word[1]);
}

static enum os_fault serve_affinities(const struct request *request)
{
    return change_note_affinities(request->keeper);
}

static enum os_fault serve_repin(const struct request *request)
{
    struct journal journal;
    enum os_fault fault = journal_read_open(&journal, request->keeper->journal);
    if (fault == FAULT_NONE && !request->keeper->is_copy) {
        fault = affinities_pin_again(&journal);
    }
    journal_free(&journal);
    return fault;
}

/* ---- The table --------------------------------------------------------------- */

struct kind {
    const char *name;
    size_t least; /* words behind the name */
    size_t most;
    size_t strings; /* the first ones have no NUL in them */
    bool needs_journal;
    handler serve;
};

static const struct kind kinds[] = {
    {"read", 1, 1, 1, false, serve_read},       {"names", 1, 1, 1, false, serve_names},
    {"kind", 1, 1, 1, false, serve_kind},       {"state", 0, 0, 0, false, serve_state},
    {"restore", 0, 0, 0, false, serve_restore}, {"begin", 1, 1, 1, false, serve_begin},
    {"write", 2, 3, 1, true, serve_write},      {"mkdir", 1, 1, 1, true, serve_mkdir},
    {"move", 2, 2, 2, true, serve_move},        {"hold", 2, 2, 1, true, serve_hold},
    {"affinities", 0, 0, 0, true, serve_affinities}, {"repin", 0, 0, 0, true, serve_repin},
    {"undo", 0, 0, 0, true, serve_undo},        {"leave", 0, 0, 0, true, serve_leave},
};

static const struct kind *find_kind(const struct words *words)
{
    for (size_t i = 0; words->count >= 2 && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, words->word[1].bytes) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

static enum os_fault serve_kind_of(const struct kind *kind, const struct request *request)
{
    if (request->count < kind->least || request->count > kind->most) {
        text_format(request->body, "'%s' takes other words", kind->name);
        return FAULT_EINVAL;
    }
    for (size_t i = 0; i < kind->strings; i++) {
        if (!word_is_string(&request->word[i])) {
            return FAULT_EINVAL;
        }
    }
    if (kind->needs_journal && !request->keeper->has_journal) {
        text_add_string(request->body, "nothing has begun: 'begin NAME' first");
        return FAULT_EINVAL;
    }
    return kind->serve(request);
}

/* What was said without a fault is content, which a fault makes worthless. */
static void tell_fault(struct answer *answer, size_t said)
{
    const bool has_words = said > 0 && answer->body.length > 0;
    if (!has_words) {
        text_cut(&answer->body, 0);
        text_add_string(&answer->body, os_fault_text(answer->fault));
    }
}

void request_serve(struct keeper *keeper, char *line, size_t length, const char **id, struct answer *answer)
{
    struct words words;
    const bool is_request = words_split(line, length, &words);
    *id = words.count > 0 && words.word[0].length > 0 && word_is_string(&words.word[0]) ? words.word[0].bytes : "-";
    const struct kind *const kind = is_request ? find_kind(&words) : NULL;
    if (kind == NULL) {
        text_add_string(&answer->body, "no such request");
        answer->fault = FAULT_EINVAL;
        return;
    }
    const struct request request = {
        .keeper = keeper, .word = &words.word[2], .count = words.count - 2, .body = &answer->body};
    answer->fault = serve_kind_of(kind, &request);
    if (answer->fault == FAULT_NONE && answer->body.out_of_memory) {
        answer->fault = FAULT_ENOMEM;
    }
    if (answer->fault != FAULT_NONE) {
        tell_fault(answer, kind->serve == serve_read || kind->serve == serve_names ? 0 : 1);
    }
}

void request_end(struct keeper *keeper)
{
    struct text troubles = {0};
    if (keeper->has_journal) {
        (void)undo_own(keeper, &troubles, false);
    }
    text_free(&troubles);
}
