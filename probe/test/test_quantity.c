/* The table of texts that the probe and the lab read alike, which is the first argument. */
#include "check.h"

#include "quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1024 };
static const char *path;

static bool reads(const char *kind, const char *text, size_t length, int64_t *value)
{
    static const struct {
        const char *kind;
        bool (*read)(const char *text, size_t length, int64_t *value);
    } readers[] = {{"duration", duration_read},
                   {"period", period_read},
                   {"rate", rate_read},
                   {"size", size_read},
                   {"share", share_read}};
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (strcmp(kind, readers[i].kind) == 0) {
            char *const exact = malloc(length + 1);
            assert_non_null(exact);
            memcpy(exact, text, length);
            exact[length] = '5'; /* not the text's */
            const bool read = readers[i].read(exact, length, value);
            free(exact);
            return read;
        }
    }
    fail_msg("no such kind: %s", kind);
    return false;
}

/* "KIND |TEXT| VALUE", cut at its bars. */
static void see_line(char *line)
{
    char *const text = strchr(line, '|');
    assert_non_null(text);
    char *const end = strrchr(line, '|');
    assert_true(end > text);
    line[strcspn(line, " ")] = '\0';
    const char *const wanted = end + 2;
    int64_t value = -1;
    const bool read = reads(line, text + 1, (size_t)(end - text) - 1, &value);
    const bool readable = strcmp(wanted, "refused") != 0 && strchr(wanted, '.') == NULL;
    if (read != readable || (read && value != strtoll(wanted, NULL, 10))) {
        fail_msg("%s %s: read %d, %lld", line, text, read, (long long)value);
    }
}

static void the_table_is_read_as_it_says(void **state)
{
    (void)state;
    FILE *const table = fopen(path, "r");
    assert_non_null(table);
    char line[LINE_BYTES];
    int seen = 0;
    while (fgets(line, sizeof line, table) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '\0' && line[0] != '#') {
            see_line(line);
            seen++;
        }
    }
    assert_int_equal(fclose(table), 0);
    assert_true(seen > 100);
}

static void any_length_of_digits_is_read_or_refused(void **state)
{
    (void)state;
    static char text[10000];
    int64_t value = 0;
    memset(text, '9', sizeof text);
    assert_false(duration_read(text, sizeof text, &value));
    memset(text, '0', sizeof text);
    text[0] = '1';
    text[1] = '.';
    text[sizeof text - 1] = 's';
    assert_true(duration_read(text, sizeof text, &value));
    assert_int_equal(value, 1000000000);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        return EXIT_FAILURE;
    }
    path = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_table_is_read_as_it_says),
                                       cmocka_unit_test(any_length_of_digits_is_read_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
