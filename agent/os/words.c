/* What a program says last: a pipe(2) that is read now and then, of which one line is kept. */
#define _GNU_SOURCE
#include "os/words.h"

#include "os/posix/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_LINE = 240, MOST_READS = 64 };

struct os_words {
    int from;
    int into;
    size_t length; /* of `line` so far */
    char line[LONGEST_LINE];
    char last[LONGEST_LINE];
};

enum os_status os_words_create(struct os_words **words)
{
    struct os_words *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        const int error = errno;
        free(made);
        return os_status_from_errno(error);
    }
    made->from = ends[0];
    made->into = ends[1];
    if (fcntl(made->from, F_SETFL, O_NONBLOCK) != 0) {
        const int error = errno;
        os_words_destroy(made);
        return os_status_from_errno(error);
    }
    *words = made;
    return OS_OK;
}

void os_words_destroy(struct os_words *words)
{
    if (words != NULL) {
        close(words->from);
        close(words->into);
        free(words);
    }
}

intptr_t os_words_handle(const struct os_words *words)
{
    return words->into;
}

static void end_line(struct os_words *words)
{
    if (words->length > 0) {
        words->line[words->length] = '\0';
        memcpy(words->last, words->line, words->length + 1);
        words->length = 0;
    }
}

void os_words_take(struct os_words *words)
{
    char text[4096];
    for (int i = 0; i < MOST_READS; i++) {
        const ssize_t got = read(words->from, text, sizeof text);
        if (got <= 0) {
            return;
        }
        for (ssize_t at = 0; at < got; at++) {
            if (text[at] == '\n' || text[at] == '\r') {
                end_line(words);
            } else if (words->length + 1 < sizeof words->line && (words->length > 0 || text[at] != ' ')) {
                words->line[words->length++] = text[at];
            }
        }
    }
}

const char *os_words_last(struct os_words *words)
{
    end_line(words);
    return words->last;
}
