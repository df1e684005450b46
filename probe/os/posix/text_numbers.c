/* Numbers in what a system tells as text. */
#include "linux.h"

#include "quantity.h"

#include <string.h>

const char *linux_behind(const char *text, const char *key)
{
    const size_t length = strlen(key);
    for (; *text != '\0'; text++) {
        if (strncmp(text, key, length) == 0) {
            return text + length;
        }
    }
    return NULL;
}

int64_t linux_number(const char *text, const char **end)
{
    int64_t number = 0;
    const char *at = text + strspn(text, " \t");
    const bool is_there = quantity_digits(&at, at + strlen(at), "", &number);
    if (end != NULL) {
        *end = is_there ? at : text;
    }
    return is_there ? number : 0;
}
