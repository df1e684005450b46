/* Tasks between control groups: their files list numbers, and a number that is written there moves. */
#ifndef TAUTO_TASK_LIST_H
#define TAUTO_TASK_LIST_H

#include "os/fault.h"
#include "text.h"

#include <stdint.h>

struct task {
    int64_t number;
    uint64_t start; /* 0 where there is no such task now, as in copied trees */
};

struct task_list {
    struct task *task;
    size_t count;
};

/* What a file lists. `plain`: numbers without a meaning on this machine. */
enum os_fault task_list_read(struct task_list *tasks, const char *place, bool plain);
void task_list_free(struct task_list *tasks);
/* "12:345,13:400"; and back. False: it is not written so, and nothing is to be freed. */
void task_list_format(const struct task_list *tasks, struct text *text);
bool task_list_parse(struct task_list *tasks, const char *text);

struct moved {
    size_t moved;
    size_t refused; /* in the last round, without those that ended and the system's own that must stay */
};

/* Moves what `from` lists to `to`, but those of `stay`, until none are left that can be moved. `plain`: plain files,
 * whose lines are moved. Where some were refused, returns why. */
enum os_fault task_list_move(const char *from, const char *to, const struct task_list *stay, bool plain,
                             struct moved *moved);

#endif
