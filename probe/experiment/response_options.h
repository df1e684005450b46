/* The options of the experiment `response`. */
#ifndef TAUTO_RESPONSE_OPTIONS_H
#define TAUTO_RESPONSE_OPTIONS_H

#include "experiment/stage_options.h"
#include "os/channel.h"

enum { RESPONSE_KINDS_LIMIT = 24 };

enum response_waiter { WAITER_ABOVE, WAITER_SAME, WAITER_BELOW };

struct response_options {
    const char *mechanisms_text;
    int64_t period_ns;   /* 0: back to back */
    int64_t bytes;       /* of a message */
    int64_t repetitions; /* each with channels of its own */
    int64_t exchanges;   /* of each repetition */
    int waiter;          /* enum response_waiter: task 2 beside task 1 */
    bool rehearse;       /* an exchange that is not recorded before each one that is */
    struct stage_options stage; /* its `count`: samples of each row, over all repetitions */

    /* After reading. */
    const struct os_channel_kind *kinds[RESPONSE_KINDS_LIMIT];
    uint32_t kind_count;
    const char *lacking[RESPONSE_KINDS_LIMIT]; /* names of what was asked for and this system does not have at all */
    uint32_t lacking_count;
};

/* Refusals are told. True to go on, otherwise `code` is the program's exit code. */
bool response_options_read(struct response_options *options, int argc, char **argv, int *code);
/* The experiment's own keys of "parameters". */
void response_options_to_json(struct json *json, const struct response_options *options);

#endif
