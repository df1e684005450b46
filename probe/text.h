/* Bytes in growing memory. Not for measuring threads. */
#ifndef TAUTO_TEXT_H
#define TAUTO_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* ends with NUL once something was added */
    size_t length;
    size_t room;
    bool out_of_memory; /* sticky: something is then missing */
};

void text_free(struct text *text); /* leaves it empty, ready for use */
void text_add(struct text *text, const void *data, size_t bytes);
void text_add_string(struct text *text, const char *string);
__attribute__((format(printf, 2, 3))) void text_format(struct text *text, const char *format, ...);
/* Room for `bytes` more behind `length`; NULL: out of memory. */
char *text_reserve(struct text *text, size_t bytes);
/* All but the first `length` bytes go away. */
void text_cut(struct text *text, size_t length);
/* "" where nothing was ever added. */
const char *text_string(const struct text *text);

#endif
