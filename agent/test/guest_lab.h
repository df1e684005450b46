/* The lab's side of a conversation with a guest's first program, an ordinary process here (TAUTO_AGENT names it). */
#ifndef TAUTO_TEST_GUEST_LAB_H
#define TAUTO_TEST_GUEST_LAB_H

#include "guest/box.h"
#include "text.h"

#include <sys/types.h>

struct lab {
    pid_t guest;
    unsigned char *mailbox;
    int gate;
    int errors; /* what it says to the console */
    struct text request;
    size_t event_bytes; /* of the last call */
    size_t event_read;
};

struct event {
    enum box_event kind;
    uint32_t program;
    const unsigned char *payload;
    size_t bytes;
};

/* The guest has made its first call. */
void lab_begin(struct lab *lab);
/* Tells it to end, and sees that it does. */
void lab_end(struct lab *lab);
/* It has ended by itself, after saying something with `words` in it. */
void lab_expect_fault(struct lab *lab, const char *words);

/* Adds a command to the next request. */
void lab_command(struct lab *lab, int kind, uint32_t program, const void *payload, size_t bytes);
/* `words` and `variables` end with NULL. */
void lab_start(struct lab *lab, uint32_t program, const char *const *words, const char *const *variables);
void lab_start_shell(struct lab *lab, uint32_t program, const char *script);
/* Sends the request with `run` at its end; false: the guest has ended. */
bool lab_run(struct lab *lab, int64_t most_ns);
/* Sends it as it is. */
bool lab_answer(struct lab *lab);
/* The next event of the last call. */
bool lab_event(struct lab *lab, struct event *event);

/* What a program has written, and its exit code, when it has ended; other programs' events are passed over. */
struct outcome {
    struct text output;
    struct text errors;
    int32_t code;
};
void lab_wait(struct lab *lab, uint32_t program, struct outcome *outcome);
void outcome_free(struct outcome *outcome);

#endif
