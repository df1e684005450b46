/* Requests to the keeper of settings, a line each, on a small tree of plain files. */
#include "fuzz.h"

#include "keep/requests.h"
#include "os/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void make(const char *root, const char *name, const char *content)
{
    char path[LONGEST_PATH];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    const enum os_fault fault =
        content == NULL ? os_folder_make(path) : os_file_write(path, content, strlen(content), true);
    if (fault != FAULT_NONE) {
        abort();
    }
}

static void serve(struct keeper *keeper, const char *line, size_t length)
{
    struct answer answer = {0};
    const char *id = "-";
    char *const copy = fuzz_string((const uint8_t *)line, length);
    request_serve(keeper, copy, length, &id, &answer);
    if (strlen(id) == 0) {
        abort();
    }
    text_free(&answer.body);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct keeper keeper;
    keeper = (struct keeper){.root = fuzz_folder(), .is_copy = true};
    make(keeper.root, "a", "1\n");
    make(keeper.root, "g", NULL);
    make(keeper.root, "g/tasks", "12\n13\n");
    make(keeper.root, "tasks", "14\n");
    (void)snprintf(keeper.journal_path, sizeof keeper.journal_path, "%s/j", keeper.root);
    const char *at = (const char *)data;
    for (size_t left = size; left > 0;) {
        const char *const newline = memchr(at, '\n', left);
        const size_t length = newline != NULL ? (size_t)(newline - at) : left;
        serve(&keeper, at, length);
        left -= newline != NULL ? length + 1 : length;
        at += newline != NULL ? length + 1 : length;
    }
    request_end(&keeper);
    return 0;
}
