#include "keep/words.h"

#include <string.h>

static int digit(char letter)
{
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    if (letter >= 'A' && letter <= 'F') {
        return letter - 'A' + 10;
    }
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* In place; the result is never longer. */
static bool decode(char *word, size_t length, size_t *decoded)
{
    *decoded = 0;
    if (length == 1 && word[0] == '%') {
        return true;
    }
    for (size_t i = 0; i < length; i++) {
        char letter = word[i];
        if (letter == '%') {
            const int high = i + 2 < length ? digit(word[i + 1]) : -1;
            const int low = high >= 0 ? digit(word[i + 2]) : -1;
            if (low < 0) {
                return false;
            }
            letter = (char)(high * 16 + low);
            i += 2;
        }
        word[(*decoded)++] = letter;
    }
    return length > 0;
}

bool words_split(char *line, size_t length, struct words *words)
{
    char *at = line;
    char *const end = line + length;
    words->count = 0;
    for (;;) {
        char *const space = memchr(at, ' ', (size_t)(end - at));
        char *const stop = space != NULL ? space : end;
        if (words->count == MOST_WORDS) {
            return false;
        }
        struct word *const word = &words->word[words->count];
        if (!decode(at, (size_t)(stop - at), &word->length)) {
            return false;
        }
        at[word->length] = '\0';
        word->bytes = at;
        words->count++;
        if (space == NULL) {
            return true;
        }
        at = space + 1;
    }
}

bool word_is_string(const struct word *word)
{
    return strlen(word->bytes) == word->length;
}

static bool is_plain(unsigned char letter)
{
    return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
           (letter != '\0' && strchr("_./,:+=@-", letter) != NULL);
}

void words_add(struct text *line, const void *bytes, size_t length)
{
    static const char hex[] = "0123456789ABCDEF";
    const unsigned char *const letters = bytes;
    if (line->length > 0 && line->data[line->length - 1] != '\n') {
        text_add(line, " ", 1);
    }
    if (length == 0) {
        text_add(line, "%", 1);
    }
    for (size_t i = 0; i < length; i++) {
        if (is_plain(letters[i])) {
            text_add(line, &letters[i], 1);
        } else {
            const char escaped[] = {'%', hex[letters[i] / 16], hex[letters[i] % 16]};
            text_add(line, escaped, sizeof escaped);
        }
    }
}

void words_add_string(struct text *line, const char *string)
{
    words_add(line, string, strlen(string));
}

void words_add_number(struct text *line, unsigned long long number)
{
    if (line->length > 0 && line->data[line->length - 1] != '\n') {
        text_add(line, " ", 1);
    }
    text_format(line, "%llu", number);
}
