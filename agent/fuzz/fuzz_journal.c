/* A journal that somebody else wrote: told, then undone in a tree of plain files. %BOOT% is this start's identity. */
#define _GNU_SOURCE /* memmem */
#include "fuzz.h"

#include "keep/journal.h"
#include "keep/requests.h"
#include "keep/undo.h"
#include "os/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOOT_BYTES = 64 };

/* Nobody could guess this start's identity, without which nothing of a journal is in force. */
static void add_with_boot(struct text *content, const char *data, size_t size)
{
    static const char mark[] = "%BOOT%";
    char boot[BOOT_BYTES];
    const char *const found = memmem(data, size, mark, sizeof mark - 1);
    const size_t before = found != NULL ? (size_t)(found - data) : size;
    text_add(content, data, before);
    if (found != NULL) {
        os_boot_identity(boot, sizeof boot);
        text_add_string(content, boot);
        text_add(content, found + sizeof mark - 1, size - before - (sizeof mark - 1));
    }
}

static void serve(struct keeper *keeper, const char *request)
{
    struct answer answer = {0};
    const char *id = "-";
    char *const line = fuzz_string((const uint8_t *)request, strlen(request));
    request_serve(keeper, line, strlen(line), &id, &answer);
    text_free(&answer.body);
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct keeper keeper;
    struct text content = {0};
    struct text troubles = {0};
    struct journal journal;
    keeper = (struct keeper){.root = fuzz_folder(), .is_copy = true};
    (void)snprintf(keeper.journal_path, sizeof keeper.journal_path, "%s/j", keeper.root);
    add_with_boot(&content, (const char *)data, size);
    if (os_file_write(keeper.journal_path, text_string(&content), content.length, true) != FAULT_NONE) {
        abort();
    }
    serve(&keeper, "1 state");
    if (journal_read(&journal, keeper.journal_path) == FAULT_NONE && journal.header != NULL) {
        undo_all(&keeper, &journal, &troubles, size % 2 == 0); /* as somebody who hears of it, or as nobody does */
    }
    journal_free(&journal);
    serve(&keeper, "2 restore");
    serve(&keeper, "3 begin x");
    request_end(&keeper);
    text_free(&troubles);
    text_free(&content);
    return 0;
}
