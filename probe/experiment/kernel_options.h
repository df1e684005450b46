/* The options of the experiment `kernel`. */
#ifndef TAUTO_KERNEL_OPTIONS_H
#define TAUTO_KERNEL_OPTIONS_H

#include "experiment/periods.h"
#include "experiment/stage_options.h"
#include "os/kernel_half.h"

enum kernel_waiter { KERNEL_ABOVE, KERNEL_SAME, KERNEL_BELOW };

struct kernel_options {
    int measure; /* enum kernel_measure */
    struct periods periods;
    const char *mechanisms_text;
    enum kernel_mechanism mechanisms[KERNEL_MECHANISM_COUNT];
    uint32_t mechanism_count;
    int64_t repetitions; /* each with threads and channels of its own */
    int64_t exchanges;   /* of each repetition */
    int waiter;          /* enum kernel_waiter: task 2 beside task 1 */
    bool soft;
    struct stage_options stage; /* `count` is of all repetitions together */
};

extern const char *const kernel_measures[];
extern const char *const kernel_mechanisms[];

/* Reads and checks; refusals are told. True to go on, otherwise `code` is the program's exit code. */
bool kernel_options_read(struct kernel_options *options, int argc, char **argv, int *code);
/* The keys of "parameters". */
void kernel_options_to_json(struct json *json, const struct kernel_options *options, int64_t ring_rows);

#endif
