/* The table of inputs: "tautochrone-inputs 1 COLUMNS ROWS", the names, each on a line of its own, an empty line; then from a
 * multiple of 8 bytes on the values, as this machine has a double. */
#include "inputs.h"

#include "os/mapped.h"

#include "format.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256, LISTED = 8 };

static bool is_wrong(char *why, size_t bytes, const char *path, const char *what)
{
    format_text(why, bytes, "--inputs %s: %s.", path, what);
    return false;
}

/* The next line, without its end; NULL: there is none. */
static char *next_line(char **at, const char *end)
{
    char *const line = *at;
    char *const stop = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
    if (stop == NULL) {
        return NULL;
    }
    *stop = '\0';
    *at = stop + 1;
    return line;
}

bool step_inputs_read(struct step_inputs *inputs, const char *path, char *why, size_t bytes)
{
    static const char magic[] = "tautochrone-inputs 1 ";
    struct mapped_file file;
    const char *const trouble = mapped_file_open(&file, path);
    if (trouble != NULL) {
        return is_wrong(why, bytes, path, trouble);
    }
    char *at = file.text;
    const char *const end = file.text + file.bytes;
    char *const first = next_line(&at, end);
    if (first == NULL || strncmp(first, magic, sizeof magic - 1) != 0) {
        return is_wrong(why, bytes, path, "it is no table of inputs; `tauto step --inputs FILE.csv` makes one");
    }
    char *number = first + sizeof magic - 1;
    const unsigned long columns = strtoul(number, &number, 10);
    const unsigned long long rows = strtoull(number, &number, 10);
    if (columns == 0 || columns > STEP_SIGNALS_LIMIT || rows == 0) {
        return is_wrong(why, bytes, path, "it has no columns, more than 64, or no rows");
    }
    for (unsigned long i = 0; i < columns; i++) {
        inputs->names[i] = next_line(&at, end);
    }
    const char *const empty = next_line(&at, end);
    const size_t begin = ((size_t)(at - file.text) + sizeof(double) - 1) / sizeof(double) * sizeof(double);
    if (empty == NULL || begin > file.bytes || (file.bytes - begin) / sizeof(double) / columns < rows) {
        return is_wrong(why, bytes, path, "it is cut off");
    }
    inputs->columns = (uint32_t)columns;
    inputs->rows = rows;
    inputs->values = (const double *)(const void *)(file.text + begin);
    return true;
}

void step_signal_name(char *name, size_t bytes, const char *const *names, const char *usual, uint32_t place)
{
    if (names != NULL && names[place] != NULL && names[place][0] != '\0') {
        format_text(name, bytes, "%s", names[place]);
    } else {
        format_text(name, bytes, "%s%u", usual, place);
    }
}

static void tell_unknown(const char *wanted, const struct tautochrone_signals *signals, char *why, size_t bytes)
{
    char known[LISTED * NAME_BYTES / 2] = "none";
    char name[NAME_BYTES];
    size_t used = 0;
    for (uint32_t i = 0; i < signals->inputs && i < LISTED && used < sizeof known; i++) {
        step_signal_name(name, sizeof name, signals->input_names, "in", i);
        used += format_text(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", name);
    }
    format_text(why, bytes, "--input %s: the code has no such input.\nIts inputs: %s%s.", wanted, known,
                signals->inputs > LISTED ? ", and more" : "");
}

bool step_inputs_bind(struct step_inputs *inputs, const struct tautochrone_signals *signals, char *why, size_t bytes)
{
    char name[NAME_BYTES];
    for (uint32_t column = 0; column < inputs->columns; column++) {
        uint32_t place = 0;
        for (; place < signals->inputs; place++) {
            step_signal_name(name, sizeof name, signals->input_names, "in", place);
            if (strcmp(name, inputs->names[column]) == 0) {
                break;
            }
        }
        if (place == signals->inputs) {
            tell_unknown(inputs->names[column], signals, why, bytes);
            return false;
        }
        inputs->places[column] = place;
    }
    return true;
}
