#define _GNU_SOURCE
#include "process_tree.h"

#include "linux.h"
#include "proc_stat.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct member {
    pid_t pid;
    pid_t parent;
    pid_t group;
    bool is_ours;
};

struct tree {
    struct member *members;
    size_t count;
    size_t room;
};

static bool add(struct tree *tree, const struct proc_stat *stat)
{
    if (tree->count == tree->room) {
        const size_t room = tree->room == 0 ? 256 : 2 * tree->room;
        struct member *const members = realloc(tree->members, room * sizeof *members);
        if (members == NULL) {
            return false;
        }
        tree->members = members;
        tree->room = room;
    }
    tree->members[tree->count++] =
        (struct member){.pid = stat->pid, .parent = stat->parent, .group = stat->group};
    return true;
}

/* Every process there is. What could not be read has ended. */
static void look_around(struct tree *tree)
{
    DIR *const folder = opendir("/proc");
    if (folder == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const int64_t pid = linux_number(entry->d_name, NULL);
        struct proc_stat stat;
        if (pid > 0 && proc_stat_read(&stat, (pid_t)pid, (pid_t)pid) && !add(tree, &stat)) {
            break;
        }
    }
    closedir(folder);
}

static bool is_ours(const struct tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->members[i].pid == pid) {
            return tree->members[i].is_ours;
        }
    }
    return false;
}

static void mark_descendants(struct tree *tree, pid_t self)
{
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < tree->count; i++) {
            struct member *const member = &tree->members[i];
            if (!member->is_ours && (member->parent == self || is_ours(tree, member->parent))) {
                member->is_ours = true;
                found = true;
            }
        }
    }
}

/* A child of ours stays what it is until we wait for it. Any other is held by a descriptor first and looked at again:
 * whoever has the number now and the same parent is a descendant too. Kernels before 5.3 have no such descriptors. */
static void signal_member(const struct member *member, int signal)
{
    if (member->parent == getpid()) {
        (void)kill(member->pid, signal);
        return;
    }
    const int descriptor = (int)syscall(SYS_pidfd_open, member->pid, 0U);
    struct proc_stat now;
    if (descriptor < 0) {
        return;
    }
    if (proc_stat_read(&now, member->pid, member->pid) && now.parent == member->parent) {
        (void)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0U);
    }
    close(descriptor);
}

void process_tree_kill_children(void)
{
    struct tree tree = {0};
    look_around(&tree);
    for (size_t i = 0; i < tree.count; i++) {
        if (tree.members[i].parent == getpid()) {
            (void)kill(tree.members[i].pid, SIGKILL);
        }
    }
    free(tree.members);
}

void process_tree_signal(int signal, pid_t but_group)
{
    struct tree tree = {0};
    look_around(&tree);
    mark_descendants(&tree, getpid());
    for (size_t i = 0; i < tree.count; i++) {
        if (tree.members[i].is_ours && (but_group == 0 || tree.members[i].group != but_group)) {
            signal_member(&tree.members[i], signal);
        }
    }
    free(tree.members);
}

size_t process_tree_of(pid_t root, pid_t *found, size_t limit)
{
    struct tree tree = {0};
    size_t count = 0;
    look_around(&tree);
    mark_descendants(&tree, root);
    for (size_t i = 0; i < tree.count && count < limit; i++) {
        if (tree.members[i].is_ours) {
            found[count++] = tree.members[i].pid;
        }
    }
    free(tree.members);
    return count;
}
