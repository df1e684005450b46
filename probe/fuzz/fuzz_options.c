/* A command line, a word a line, read by a table that has every kind of option; then the lists that options hold. */
#include "fuzz.h"

#include "experiment/periods.h"
#include "options.h"
#include "tire/live.h"

#include <stdlib.h>

enum { MOST_WORDS = 24 };

static void read_text(const char *text)
{
    static struct cpu_list cpus;
    struct periods periods = {.text = text};
    struct live_destination destination;
    (void)cpu_list_read(&cpus, text);
    (void)periods_read(&periods, 1000, "1us");
    (void)live_destination_read(text, &destination);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const choices[] = {"skip", "replay", NULL};
    char *const string = fuzz_string(data, size);
    char *words[MOST_WORDS];
    const int count = fuzz_lines(string, words, MOST_WORDS);
    bool flag = false;
    int64_t time_ns = 0;
    int64_t number = 0;
    int64_t bytes = 0;
    int choice = 0;
    const char *text = NULL;
    int code = 0;
    struct option table[] = {
        {"flag", OPTION_FLAG, &flag, NULL, "a flag", false},
        {"time", OPTION_DURATION, &time_ns, NULL, "a time", false},
        {"count", OPTION_COUNT, &number, NULL, "a number", false},
        {"size", OPTION_SIZE, &bytes, NULL, "bytes", false},
        {"way", OPTION_CHOICE, &choice, choices, "a choice", false},
        {"text", OPTION_TEXT, &text, NULL, "a list", false},
    };
    const size_t options = sizeof table / sizeof table[0];
    if (options_read_or_help(table, options, count, words, "usage\n", &code)) {
        if (time_ns < 0 || number < 0 || bytes < 0 || choice < 0 || choice > 1) {
            abort();
        }
        if (text != NULL) {
            read_text(text);
        }
    }
    free(string);
    return 0;
}
