/* Lines of words, as requests and the journal have them: one space between, and in each word every byte outside
 * [A-Za-z0-9_./,:+=@-] as %XX; an empty word is "%". */
#ifndef TAUTO_WORDS_H
#define TAUTO_WORDS_H

#include "text.h"

enum { MOST_WORDS = 8 };

struct word {
    const char *bytes; /* ends with NUL, and may hold NULs */
    size_t length;
};

struct words {
    struct word word[MOST_WORDS];
    size_t count;
};

/* Takes the line apart in its own memory. False: not such a line, or too many words; those before stand in `words`. */
bool words_split(char *line, size_t length, struct words *words);
/* Without NULs, so that it can be a path, or a number. */
bool word_is_string(const struct word *word);

/* Adds a word, with a space before it unless a line begins here. */
void words_add(struct text *line, const void *bytes, size_t length);
void words_add_string(struct text *line, const char *string);
void words_add_number(struct text *line, unsigned long long number);

#endif
