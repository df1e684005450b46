/* A task set and the options beside it, a word a line. */
#include "fuzz.h"

#include "experiment/taskset_options.h"
#include "record/json.h"

#include <stdlib.h>

enum { MOST_WORDS = 24 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct taskset_options options;
    char *const string = fuzz_string(data, size);
    char *words[MOST_WORDS];
    const int count = fuzz_lines(string, words, MOST_WORDS);
    int code = 0;
    if (taskset_options_read(&options, count, words, &code)) {
        struct json json;
        json_begin(&json);
        taskset_options_to_json(&json, &options, 1);
        json_free(&json);
        for (uint32_t i = 0; i < options.count; i++) {
            const struct task *const task = &options.tasks[i];
            if (task->period_ns <= 0 || task->execution_ns <= 0 || task->count < 1 || task->warmup < 0) {
                abort();
            }
        }
    }
    free(string);
    return 0;
}
