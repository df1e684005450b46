#include "keep/undo.h"

#include "keep/affinities.h"
#include "keep/changes.h"
#include "keep/steps.h"
#include "keep/task_list.h"
#include "format.h"
#include "os/journal.h"
#include "os/settings.h"

#include <stdlib.h>
#include <string.h>

enum { NS_PER_MS = 1000000, MOST_ARGUMENTS = 4, NO_MORE_THAN = 80 };
static const int64_t patience_ns = 1000LL * NS_PER_MS;
static const int64_t together_ns = 4000LL * NS_PER_MS; /* of all steps that wait for something */
static const int64_t again_after_ns = 20LL * NS_PER_MS;

struct undo {
    struct keeper *keeper;
    const struct journal *journal;
    struct text *troubles;
    int64_t *patience_left_ns;
};

/* A step's words behind the first. */
struct step {
    const struct undo *undo;
    const struct word *argument[MOST_ARGUMENTS];
    char place[LONGEST_PATH]; /* of the first of them, where that is a path */
};

/* Each returns FAULT_NONE when it is as it was, or never can be and nobody misses it. */
typedef enum os_fault (*put_back)(const struct step *step);

static bool is_final(enum os_fault fault)
{
    return fault == FAULT_NONE || fault == FAULT_ENOENT || fault == FAULT_EACCES || fault == FAULT_EPERM ||
           fault == FAULT_EROFS || fault == FAULT_ENOTDIR || fault == FAULT_ENODEV;
}

/* What is in use now (a group whose tasks are just ending) may not be in a moment. */
static enum os_fault try_for_a_while(put_back try, const struct step *step)
{
    int64_t *const left_ns = step->undo->patience_left_ns;
    const int64_t begin_ns = os_now_ns();
    const int64_t give_up_ns = begin_ns + (*left_ns < patience_ns ? *left_ns : patience_ns);
    enum os_fault fault = try(step);
    if (is_final(fault)) {
        return fault;
    }
    while (!is_final(fault) && os_now_ns() < give_up_ns) {
        (void)os_sleep_until(os_now_ns() + again_after_ns);
        fault = try(step);
    }
    *left_ns -= os_now_ns() - begin_ns;
    return fault;
}

static bool holds(const struct step *step, const struct word *content)
{
    struct text now = {0};
    const bool read = os_file_read(step->place, &now) == FAULT_NONE;
    if (!step->undo->keeper->is_copy) {
        change_simplify(&now);
    }
    const bool same =
        read && now.length == content->length && memcmp(text_string(&now), content->bytes, now.length) == 0;
    text_free(&now);
    return same;
}

static enum os_fault write_text(const struct step *step)
{
    const struct word *const text = step->argument[1];
    const bool is_copy = step->undo->keeper->is_copy;
    /* To the kernel, writing nothing is no write at all. */
    return text->length == 0 && !is_copy ? os_file_write(step->place, "\n", 1, false)
                                         : os_file_write(step->place, text->bytes, text->length, is_copy);
}

static enum os_fault write_content(const struct step *step)
{
    if (holds(step, step->argument[1])) {
        return FAULT_NONE; /* also where the change was refused, or the keeper was killed before it */
    }
    const enum os_fault fault = write_text(step);
    return fault == FAULT_NONE && !holds(step, step->argument[1]) ? FAULT_EIO : fault;
}

/* What lay in a folder that we made is gone with it, when a keeper was killed while undoing. */
static bool was_in_our_folder(const struct undo *undo, const char *path)
{
    for (size_t i = 0; i < undo->journal->step_count; i++) {
        struct text line = {0};
        struct words words;
        text_add_string(&line, undo->journal->steps[i]);
        const bool is_ours = !line.out_of_memory && words_split(line.data, line.length, &words) && words.count == 2 &&
                             strcmp(words.word[0].bytes, STEP_RMDIR) == 0 &&
                             strncmp(words.word[1].bytes, path, words.word[1].length) == 0 &&
                             path[words.word[1].length] == '/';
        text_free(&line);
        if (is_ours) {
            return true;
        }
    }
    return false;
}

static enum os_fault unless_gone(enum os_fault fault, const struct step *step, const char *path)
{
    return fault == FAULT_ENOENT && was_in_our_folder(step->undo, path) ? FAULT_NONE : fault;
}

static enum os_fault undo_write(const struct step *step)
{
    return unless_gone(try_for_a_while(write_content, step), step, step->argument[0]->bytes);
}

/* A controller that others have passed on to their own groups since is theirs now. */
static bool is_used_by_others(enum os_fault fault, const char *path)
{
    static const char controllers[] = "/cgroup.subtree_control";
    const size_t length = strlen(path);
    return fault == FAULT_EBUSY && length >= sizeof controllers - 1 &&
           strcmp(path + length - (sizeof controllers - 1), controllers) == 0;
}

static enum os_fault undo_command(const struct step *step)
{
    const char *const path = step->argument[0]->bytes;
    const enum os_fault fault = unless_gone(try_for_a_while(write_text, step), step, path);
    /* As the change itself was. */
    const bool was_refused = fault != FAULT_NONE && holds(step, step->argument[1]);
    return was_refused || is_used_by_others(fault, path) ? FAULT_NONE : fault;
}

static enum os_fault remove_file(const struct step *step)
{
    const enum os_fault fault = os_file_remove(step->place);
    return fault == FAULT_ENOENT || fault == FAULT_ENOTDIR ? FAULT_NONE : fault;
}

/* Whoever is still in a control group of ours, though it was asked to end, or never was ours, goes to the group above. */
static void empty_folder(const char *place)
{
    static const char *const names[] = {"cgroup.threads", "tasks"};
    static const struct task_list none = {0};
    char from[LONGEST_PATH];
    char to[LONGEST_PATH];
    struct moved moved;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (format_text(from, sizeof from, "%s/%s", place, names[i]) < sizeof from &&
            format_text(to, sizeof to, "%s/../%s", place, names[i]) < sizeof to) {
            (void)task_list_move(from, to, &none, false, &moved); /* a group has only one of the two */
        }
    }
}

static enum os_fault remove_folder(const struct step *step)
{
    enum os_fault fault = os_folder_remove(step->place);
    if (fault == FAULT_EBUSY && !step->undo->keeper->is_copy) {
        empty_folder(step->place);
        fault = os_folder_remove(step->place);
    }
    return fault == FAULT_ENOENT ? FAULT_NONE : fault;
}

static enum os_fault undo_rmdir(const struct step *step)
{
    return try_for_a_while(remove_folder, step);
}

static enum os_fault undo_move(const struct step *step)
{
    char to[LONGEST_PATH];
    struct task_list stay;
    struct moved moved;
    const struct keeper *const keeper = step->undo->keeper;
    enum os_fault fault = keeper_place(keeper, step->argument[1]->bytes, to);
    if (fault != FAULT_NONE || !task_list_parse(&stay, step->argument[2]->bytes)) {
        return fault != FAULT_NONE ? fault : FAULT_EINVAL;
    }
    if (os_file_kind(to) == OS_KIND_NONE) {
        fault = unless_gone(FAULT_ENOENT, step, step->argument[1]->bytes); /* and whoever was in it */
        fault = keeper->is_copy ? FAULT_NONE : fault;
    } else {
        fault = task_list_move(to, step->place, &stay, keeper->is_copy, &moved);
    }
    task_list_free(&stay);
    return fault;
}

static enum os_fault undo_nothing(const struct step *step)
{
    (void)step;
    return FAULT_NONE;
}

struct step_kind {
    const char *name;
    size_t arguments;
    bool has_path; /* the first of them */
    put_back put_back;
};

static const struct step_kind kinds[] = {
    {STEP_WRITE, 2, true, undo_write},         {STEP_COMMAND, 2, true, undo_command},
    {STEP_REMOVE, 1, true, remove_file},       {STEP_RMDIR, 1, true, undo_rmdir},
    {STEP_MOVE, 3, true, undo_move},           {STEP_HOLD, 1, true, undo_nothing},
    {STEP_LEFT, 0, false, undo_nothing},
};

static enum os_fault undo_words(const struct undo *undo, const struct words *words)
{
    struct step step = {.undo = undo};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, words->word[0].bytes) != 0 || words->count != kinds[i].arguments + 1) {
            continue;
        }
        for (size_t a = 0; a < kinds[i].arguments; a++) {
            step.argument[a] = &words->word[a + 1];
        }
        const enum os_fault fault =
            kinds[i].has_path ? keeper_place(undo->keeper, words->word[1].bytes, step.place) : FAULT_NONE;
        return fault == FAULT_NONE ? kinds[i].put_back(&step) : fault;
    }
    return FAULT_EINVAL;
}

/* "write /proc/x 95: words": short, on one line, whatever a file held. */
static void tell(struct text *troubles, const char *step, enum os_fault fault)
{
    const size_t length = strlen(step);
    text_add(troubles, step, length < NO_MORE_THAN ? length : NO_MORE_THAN);
    text_format(troubles, "%s: %s\n", length < NO_MORE_THAN ? "" : "...", os_fault_text(fault));
}

static void tell_affinity(void *argument, const char *step, enum os_fault fault)
{
    tell(argument, step, fault);
}

static bool undo_step(const struct undo *undo, const char *step)
{
    struct text line = {0};
    struct words words;
    text_add_string(&line, step);
    enum os_fault fault = FAULT_ENOMEM;
    if (!line.out_of_memory) {
        fault = words_split(line.data, line.length, &words) ? undo_words(undo, &words) : FAULT_EINVAL;
    }
    text_free(&line);
    if (fault != FAULT_NONE) {
        tell(undo->troubles, step, fault);
    }
    return fault == FAULT_NONE;
}

static void keep_for_another_try(const struct keeper *keeper, const struct journal *journal, const bool *done)
{
    struct text rest = {0};
    text_format(&rest, "%s\n", journal->header);
    for (size_t i = 0; i < journal->step_count; i++) {
        if (!done[i]) {
            text_add_string(&rest, journal->steps[i]);
            text_add(&rest, "\n", 1);
        }
    }
    if (!rest.out_of_memory) {
        (void)os_journal_replace(keeper->journal_path, rest.data, rest.length); /* otherwise all of it stays */
    }
    text_free(&rest);
}

/* The last change first. Affinities come at the end: nothing else needs them, and they need all CPUs. */
static bool undo_steps(const struct undo *undo, bool *done)
{
    const struct journal *const journal = undo->journal;
    bool all_done = true;
    for (size_t i = journal->step_count; i > 0; i--) {
        if (affinities_have(journal->steps[i - 1])) {
            continue;
        }
        const bool is_done = undo_step(undo, journal->steps[i - 1]);
        all_done = all_done && is_done;
        if (done != NULL) {
            done[i - 1] = is_done;
        }
    }
    return affinities_put_back(journal, done, tell_affinity, undo->troubles) == FAULT_NONE && all_done;
}

void undo_all(struct keeper *keeper, const struct journal *journal, struct text *troubles, bool is_heard)
{
    int64_t patience_left_ns = together_ns;
    const struct undo undo = {
        .keeper = keeper, .journal = journal, .troubles = troubles, .patience_left_ns = &patience_left_ns};
    bool *const done = calloc(journal->step_count + 1, sizeof *done);
    for (size_t i = 0; i < keeper->hold_count; i++) {
        os_file_close(keeper->holds[i]);
    }
    keeper->hold_count = 0;
    const bool all_done = undo_steps(&undo, done);
    if (all_done || is_heard) {
        const enum os_fault fault = os_file_remove(keeper->journal_path);
        if (fault != FAULT_NONE && fault != FAULT_ENOENT) {
            text_format(troubles, "%s: %s\n", keeper->journal_path, os_fault_text(fault));
        }
    } else if (done != NULL) {
        keep_for_another_try(keeper, journal, done);
    }
    free(done);
}
