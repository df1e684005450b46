/*
 * Memory that this process may still have: MemAvailable of proc_meminfo(5), and what the memory groups above it have
 * left (cgroups(7); memory.max of version 2, memory.limit_in_bytes of version 1). Memory of files that a group could
 * drop at once (inactive_file) counts as left, as MemAvailable counts it.
 */
#include "os/os.h"

#include "format.h"
#include "linux.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BYTES = 4096, LONGEST_PATH = 4096, KIB = 1024 };

struct version {
    const char *file_system; /* in mountinfo */
    const char *controller;  /* in /proc/self/cgroup and the mount's options; empty in version 2 */
    const char *limit;
    const char *used;
    const char *droppable; /* a line of memory.stat; groups below are counted too */
};
static const struct version versions[] = {
    {"cgroup", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "\ntotal_inactive_file "},
    {"cgroup2", "", "memory.max", "memory.current", "\ninactive_file "},
};

/* The whole file with a NUL behind it; to be freed. NULL where it can't be read. */
static char *read_file(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    char *text = NULL;
    size_t room = FIRST_BYTES;
    size_t length = 0;
    ssize_t got = file >= 0 ? 1 : -1;
    while (got > 0) {
        char *const larger = realloc(text, room);
        got = larger == NULL ? -1 : read(file, larger + length, room - length - 1);
        text = larger == NULL ? text : larger;
        length += got > 0 ? (size_t)got : 0;
        room = length + 1 == room ? room * 2 : room;
    }
    if (file >= 0) {
        close(file);
    }
    if (got < 0) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

/* The number behind `key` in the file of this folder; `otherwise` where there is none ("max"). */
static int64_t read_number(const char *folder, const char *name, const char *key, int64_t otherwise)
{
    char path[LONGEST_PATH + 64];
    format_text(path, sizeof path, "%s/%s", folder, name);
    char *const text = read_file(path);
    const char *const digits = text == NULL ? NULL : linux_behind(text, key);
    const int64_t value = digits != NULL && *digits >= '0' && *digits <= '9' ? linux_number(digits, NULL) : otherwise;
    free(text);
    return value;
}

/* Is `word` one of the words that stand between commas from `list` to `end`? */
static bool has_word(const char *list, const char *end, const char *word)
{
    const size_t length = strlen(word);
    while (list < end) {
        const size_t own = strcspn(list, ", \n:");
        if (own == length && strncmp(list, word, length) == 0) {
            return true;
        }
        list += own + 1;
    }
    return false;
}

/* This process's group, as the hierarchy names it: "4:memory:/path", "0::/path". False: none. */
static bool find_group(const struct version *version, char *group, size_t bytes)
{
    char *const text = read_file("/proc/self/cgroup");
    bool found = false;
    for (char *line = text; line != NULL && *line != '\0' && !found;) {
        char *const end = line + strcspn(line, "\n");
        char *const controllers = strchr(line, ':');
        char *const path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (path != NULL && path < end) {
            found = version->controller[0] == '\0' ? path == controllers + 1
                                                   : has_word(controllers + 1, path, version->controller);
        }
        const char next = *end;
        *end = '\0';
        if (found) {
            format_text(group, bytes, "%s", path + 1);
        }
        line = next == '\0' ? NULL : end + 1;
    }
    free(text);
    return found;
}

/* The next word of a line, ended by NUL; `*at` moves behind it. */
static char *next_word(char **at)
{
    char *const word = *at;
    *at += strcspn(*at, " \n");
    if (**at != '\0') {
        *(*at)++ = '\0';
    }
    return word;
}

/* "31 23 0:28 ROOT PLACE OPTIONS … - FILE-SYSTEM SOURCE OPTIONS" (proc_pid_mountinfo(5)). */
static bool is_mount_of(const struct version *version, char *line, char **root, char **place)
{
    const char *const behind_dash = linux_behind(line, " - ");
    if (behind_dash == NULL) {
        return false;
    }
    char *at = line + (behind_dash - line);
    const char *const file_system = next_word(&at);
    (void)next_word(&at);
    if (strcmp(file_system, version->file_system) != 0 ||
        (version->controller[0] != '\0' && !has_word(at, at + strlen(at), version->controller))) {
        return false;
    }
    at = line;
    for (int i = 0; i < 3; i++) {
        (void)next_word(&at);
    }
    *root = next_word(&at);
    *place = next_word(&at);
    return true;
}

/* Where the files of the group are. `top` is the length of the part that is the mount itself. A container sees the
 * hierarchy from its own group on. */
static bool find_folder(const struct version *version, const char *group, char *folder, size_t bytes, size_t *top)
{
    char *const text = read_file("/proc/self/mountinfo");
    bool found = false;
    for (char *line = text; line != NULL && *line != '\0' && !found;) {
        char *const end = line + strcspn(line, "\n");
        const bool is_last = *end == '\0';
        *end = '\0';
        char *root = NULL;
        char *place = NULL;
        if (is_mount_of(version, line, &root, &place)) {
            const size_t above = strcmp(root, "/") == 0 ? 0 : strlen(root);
            const bool inside = strncmp(group, root, above) == 0 && strcmp(group, "/") != 0;
            format_text(folder, bytes, "%s%s", place, inside ? group + above : "");
            *top = strlen(place);
            found = strlen(folder) + 1 < bytes;
        }
        line = is_last ? NULL : end + 1;
    }
    free(text);
    return found;
}

static int64_t left_in(const char *folder, const struct version *version)
{
    const int64_t limit = read_number(folder, version->limit, "", INT64_MAX);
    const int64_t used = read_number(folder, version->used, "", 0);
    if (limit == INT64_MAX) {
        return INT64_MAX;
    }
    const int64_t droppable = read_number(folder, "memory.stat", version->droppable, 0);
    return used - droppable < limit ? limit - (used - droppable) : 0;
}

/* The least that the group and those above it have left. */
static int64_t left_in_groups(const struct version *version)
{
    char group[LONGEST_PATH];
    char folder[LONGEST_PATH];
    size_t top = 0;
    int64_t least = INT64_MAX;
    if (!find_group(version, group, sizeof group) || !find_folder(version, group, folder, sizeof folder, &top)) {
        return least;
    }
    for (;;) {
        const int64_t left = left_in(folder, version);
        least = left < least ? left : least;
        char *const end = strrchr(folder, '/');
        if (end == NULL || (size_t)(end - folder) < top) {
            return least;
        }
        *end = '\0';
    }
}

int64_t os_memory_available_bytes(void)
{
    char *const text = read_file("/proc/meminfo");
    const char *const kib = text == NULL ? NULL : linux_behind(text, "MemAvailable:");
    int64_t least = kib == NULL ? INT64_MAX : linux_number(kib, NULL) * KIB;
    free(text);
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        const int64_t left = left_in_groups(&versions[i]);
        least = left < least ? left : least;
    }
    return least;
}
