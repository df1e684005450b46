/*
 * The settings of a running system, where it shows them as small files: /proc, /sys, control groups. Nothing here keeps
 * what was before; keep/ does.
 */
#ifndef TAUTO_SETTINGS_H
#define TAUTO_SETTINGS_H

#include "os/fault.h"
#include "os/os.h"
#include "os/tasks.h"
#include "text.h"

/* ---- Files -------------------------------------------------------------- */

/* All of a file, whatever size it claims to have. FAULT_EFBIG beyond 16 MiB. Never waits for a writer. */
enum os_fault os_file_read(const char *path, struct text *content);
/* The same of one that is open, from its beginning. */
enum os_fault os_file_read_open(intptr_t handle, struct text *content);
/* In one piece, over what is there; `may_create` makes the file where there is none. Waits where the file does. */
enum os_fault os_file_write(const char *path, const char *data, size_t bytes, bool may_create);
/* Adds "NAME\n" for each, "NAME/\n" for folders and links to folders. */
enum os_fault os_folder_names(const char *path, struct text *names);

enum os_file_kind { OS_KIND_NONE, OS_KIND_FILE, OS_KIND_FOLDER };
/* Links followed. What can't be seen is not there. */
enum os_file_kind os_file_kind(const char *path);

/* Its parent is there. */
enum os_fault os_folder_make(const char *path);
enum os_fault os_folder_remove(const char *path);
enum os_fault os_file_remove(const char *path);

/* For writing, and kept open. */
enum os_fault os_file_open(const char *path, intptr_t *handle);
/* One piece into a file that is open. */
enum os_fault os_file_put(intptr_t handle, const char *data, size_t bytes);
void os_file_close(intptr_t handle);

/* ---- Processes and threads --------------------------------------------- */

/* Numbers are used again; with its start it is this thread and no other of this boot. */
struct os_thread_identity {
    int64_t process;
    int64_t thread;
    uint64_t start; /* in the system's own ticks */
};

/* Lists of CPUs go up to 4095; the longest has every second of them. */
enum { OS_CPU_LIST_BYTES = 10240 };

typedef void (*os_thread_visitor)(void *argument, const struct os_thread_identity *identity, const char *cpus);
/* Every thread of every process whose CPUs can be set, with the CPUs that it may use, off line ones included, as a
 * list (0-3,6). */
enum os_fault os_threads_visit(os_thread_visitor visit, void *argument);
/* FAULT_ESRCH: this thread has ended. */
enum os_fault os_thread_cpus_read(const struct os_thread_identity *identity, char *list, size_t bytes);
enum os_fault os_thread_cpus_write(const struct os_thread_identity *identity, const char *list);
/* Is every CPU of `list` in `of` too? */
bool os_cpus_are_within(const char *list, const char *of);

/* Another after each start of the system; empty where it can't be told. */
void os_boot_identity(char *identity, size_t bytes);

#endif
