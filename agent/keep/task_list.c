#include "keep/task_list.h"

#include "keep/changes.h"
#include "keep/steps.h"
#include "format.h"
#include "os/settings.h"

#include <stdlib.h>
#include <string.h>

/* Tasks that are moved may start others meanwhile. */
enum { MOST_ROUNDS = 5 };

void task_list_free(struct task_list *tasks)
{
    free(tasks->task);
    *tasks = (struct task_list){0};
}

/* Room for as many tasks as `text` has lines or commas, and one more. */
static bool make_room(struct task_list *tasks, const char *text)
{
    size_t most = 1;
    for (; *text != '\0'; text++) {
        most += *text == '\n' || *text == ',' ? 1 : 0;
    }
    *tasks = (struct task_list){.task = calloc(most, sizeof *tasks->task)};
    return tasks->task != NULL;
}

enum os_fault task_list_read(struct task_list *tasks, const char *place, bool plain)
{
    struct text content = {0};
    *tasks = (struct task_list){0};
    enum os_fault fault = os_file_read(place, &content);
    if (fault == FAULT_NONE && strlen(text_string(&content)) != content.length) {
        fault = FAULT_EINVAL; /* NULs: not a file of tasks */
    }
    if (fault == FAULT_NONE && !make_room(tasks, text_string(&content))) {
        fault = FAULT_ENOMEM;
    }
    for (const char *at = text_string(&content); fault == FAULT_NONE && *at != '\0';) {
        char *end = NULL;
        const long long number = strtoll(at, &end, 10);
        if (end == at || (*end != '\n' && *end != '\0')) {
            fault = FAULT_EINVAL; /* not a file of tasks */
            break;
        }
        uint64_t start = 0;
        if (!plain) {
            (void)os_task_start(number, &start, NULL);
        }
        tasks->task[tasks->count++] = (struct task){number, start};
        at = *end == '\n' ? end + 1 : end;
    }
    text_free(&content);
    return fault;
}

void task_list_format(const struct task_list *tasks, struct text *text)
{
    for (size_t i = 0; i < tasks->count; i++) {
        text_format(text, "%s%lld:%llu", i == 0 ? "" : ",", (long long)tasks->task[i].number,
                    (unsigned long long)tasks->task[i].start);
    }
}

/* "12:345" at `*at`, which moves behind it and the comma after it. */
static bool parse_task(const char **at, struct task *task)
{
    char *end = NULL;
    const long long number = strtoll(*at, &end, 10);
    if (end == *at || *end != ':') {
        return false;
    }
    const char *const start_at = end + 1;
    const unsigned long long start = strtoull(start_at, &end, 10);
    if (end == start_at || (*end != ',' && *end != '\0')) {
        return false;
    }
    *task = (struct task){number, start};
    *at = *end == ',' ? end + 1 : end;
    return true;
}

bool task_list_parse(struct task_list *tasks, const char *text)
{
    if (!make_room(tasks, text)) {
        return false;
    }
    while (*text != '\0') {
        if (!parse_task(&text, &tasks->task[tasks->count])) {
            task_list_free(tasks);
            return false;
        }
        tasks->count++;
    }
    return true;
}

static bool contains(const struct task_list *tasks, const struct task *task)
{
    for (size_t i = 0; i < tasks->count; i++) {
        if (tasks->task[i].number == task->number && tasks->task[i].start == task->start) {
            return true;
        }
    }
    return false;
}

static bool may_refuse(int64_t number)
{
    uint64_t start = 0;
    bool of_kernel = false;
    return !os_task_start(number, &start, &of_kernel) || of_kernel;
}

/* One after the other, as the system wants it. Returns why the last that was refused was. */
static enum os_fault move_once(const struct task_list *tasks, intptr_t to, const struct task_list *stay,
                               struct moved *moved)
{
    enum os_fault fault = FAULT_NONE;
    *moved = (struct moved){0};
    for (size_t i = 0; i < tasks->count; i++) {
        const struct task *const task = &tasks->task[i];
        if (contains(stay, task)) {
            continue;
        }
        char number[32];
        const size_t length = format_text(number, sizeof number, "%lld\n", (long long)task->number);
        const enum os_fault now = os_file_put(to, number, length);
        if (now == FAULT_NONE) {
            moved->moved++;
        } else if (now != FAULT_ESRCH && !may_refuse(task->number)) {
            fault = now;
            moved->refused++;
        }
    }
    return fault;
}

static enum os_fault write_tasks(const char *place, const struct task_list *first, const struct task_list *second,
                                 const struct task_list *only)
{
    struct text text = {0};
    for (size_t i = 0; first != NULL && i < first->count; i++) {
        text_format(&text, "%lld\n", (long long)first->task[i].number);
    }
    for (size_t i = 0; i < second->count; i++) {
        if (only == NULL || contains(only, &second->task[i])) {
            text_format(&text, "%lld\n", (long long)second->task[i].number);
        }
    }
    const enum os_fault fault = os_file_write(place, text_string(&text), text.length, true);
    text_free(&text);
    return fault;
}

/* In a copy of a tree nothing moves by itself: the lines are moved, first there, then here, so that none is lost. */
static enum os_fault move_lines(const char *from, const char *to, const struct task_list *listed,
                                const struct task_list *stay)
{
    struct task_list there;
    struct task_list going = {.task = calloc(listed->count + 1, sizeof *going.task)};
    enum os_fault fault = going.task != NULL ? task_list_read(&there, to, true) : FAULT_ENOMEM;
    if (fault == FAULT_ENOENT) {
        fault = FAULT_NONE;
    }
    for (size_t i = 0; fault == FAULT_NONE && i < listed->count; i++) {
        if (!contains(stay, &listed->task[i]) && !contains(&there, &listed->task[i])) {
            going.task[going.count++] = listed->task[i];
        }
    }
    if (fault == FAULT_NONE) {
        fault = write_tasks(to, &there, &going, NULL);
    }
    if (fault == FAULT_NONE) {
        fault = write_tasks(from, NULL, listed, stay);
    }
    if (going.task != NULL) {
        task_list_free(&there);
    }
    task_list_free(&going);
    return fault;
}

static enum os_fault move_tasks(const char *from, const char *to, const struct task_list *stay, struct moved *moved)
{
    intptr_t into = 0;
    enum os_fault fault = os_file_open(to, &into);
    if (fault != FAULT_NONE) {
        return fault;
    }
    for (int round = 0; round < MOST_ROUNDS; round++) {
        struct task_list tasks;
        struct moved now = {0};
        fault = task_list_read(&tasks, from, false);
        if (fault == FAULT_NONE) {
            fault = move_once(&tasks, into, stay, &now);
        }
        task_list_free(&tasks);
        moved->moved += now.moved;
        moved->refused = now.refused;
        if (now.moved == 0) {
            break;
        }
    }
    os_file_close(into);
    return fault;
}

enum os_fault task_list_move(const char *from, const char *to, const struct task_list *stay, bool plain,
                             struct moved *moved)
{
    *moved = (struct moved){0};
    if (!plain) {
        return move_tasks(from, to, stay, moved);
    }
    struct task_list listed;
    enum os_fault fault = task_list_read(&listed, from, true);
    if (fault == FAULT_NONE) {
        fault = move_lines(from, to, &listed, stay);
    }
    task_list_free(&listed);
    return fault;
}

static enum os_fault note_move(struct keeper *keeper, const char *from, const char *to, const struct task_list *before)
{
    struct text list = {0};
    struct text line = {0};
    task_list_format(before, &list);
    words_add_string(&line, STEP_MOVE);
    words_add_string(&line, from);
    words_add_string(&line, to);
    words_add(&line, text_string(&list), list.length);
    step_end(&line);
    const enum os_fault fault = list.out_of_memory ? FAULT_ENOMEM : keeper_note(keeper, &line);
    text_free(&list);
    text_free(&line);
    return fault;
}

enum os_fault change_move_tasks(struct keeper *keeper, const char *from, const char *to)
{
    static const struct task_list none = {0};
    char from_place[LONGEST_PATH];
    char to_place[LONGEST_PATH];
    struct task_list going = {0};
    struct task_list before = {0};
    struct moved moved = {0};
    enum os_fault fault = keeper_place(keeper, from, from_place);
    fault = fault == FAULT_NONE ? keeper_place(keeper, to, to_place) : fault;
    if (fault == FAULT_NONE && strcmp(from_place, to_place) == 0) {
        fault = FAULT_EINVAL;
    }
    if (fault == FAULT_NONE) {
        fault = task_list_read(&going, from_place, true); /* what lists no tasks could not be put back */
        task_list_free(&going);
    }
    if (fault == FAULT_NONE) {
        fault = task_list_read(&before, to_place, keeper->is_copy);
        if (fault == FAULT_ENOENT && keeper->is_copy) {
            fault = keeper_note_path(keeper, STEP_REMOVE, to);
        }
    }
    if (fault == FAULT_NONE) {
        fault = note_move(keeper, from, to, &before);
    }
    if (fault == FAULT_NONE) {
        fault = task_list_move(from_place, to_place, &none, keeper->is_copy, &moved);
        if (moved.moved > 0 && moved.refused > 0) {
            fault = FAULT_NONE; /* some stay: who reads the files sees it */
        }
    }
    task_list_free(&before);
    return fault;
}
