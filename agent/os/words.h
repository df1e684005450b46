/* What a program says last. */
#ifndef TAUTO_OS_WORDS_H
#define TAUTO_OS_WORDS_H

#include "os/os.h"

struct os_words;
enum os_status os_words_create(struct os_words **words);
void os_words_destroy(struct os_words *words);
/* What is written there is kept, as far as os_words_last needs it. */
intptr_t os_words_handle(const struct os_words *words);
/* Takes what was written since the last time, so that nobody waits for a reader. Never blocks. */
void os_words_take(struct os_words *words);
/* The last line with something in it of what was taken; empty when there is none. */
const char *os_words_last(struct os_words *words);

#endif
