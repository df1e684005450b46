/* What the ways to record late cycles (os/late_trace.h) have in common: a table of calls each, and the trace that they share. */
#ifndef TAUTO_POSIX_LATE_RECORDER_H
#define TAUTO_POSIX_LATE_RECORDER_H

#include "os/late_trace.h"

struct late_recorder {
    const char *name;
    /* Sets trace->state and trace->missing. When the answer is not OS_PRESENT it has undone what it did. */
    struct os_answer (*open)(struct os_late_trace *trace, const struct os_late_wish *wish);
    void (*close)(struct os_late_trace *trace);
    void (*pause)(struct os_late_trace *trace);
    void (*resume)(struct os_late_trace *trace);
    struct os_late_copied (*copy)(struct os_late_trace *trace, int32_t cpu, int64_t from_ns, int64_t until_ns,
                                  struct os_late_event *events, size_t limit);
    /* NULL, both: it has no stacks. */
    void (*take_stacks)(struct os_late_trace *trace, int64_t from_ns);
    size_t (*stack)(struct os_late_trace *trace, int64_t number, uint64_t addresses[OS_LATE_STACK_DEPTH]);
};

struct os_late_trace {
    const struct late_recorder *recorder;
    void *state;                             /* the recorder's own */
    size_t ring_bytes;                       /* for each CPU */
    const char *missing[OS_LATE_KIND_LIMIT]; /* why a kind is not recorded; NULL: it is */
};

extern const struct late_recorder late_recorder_bpf;
extern const struct late_recorder late_recorder_perf;

/* What goes on: begins whose ends have not come. */
enum { LATE_GOING_LIMIT = 8 };
struct late_going {
    struct os_late_event events[LATE_GOING_LIMIT];
    size_t count;
};
void late_going_see(struct late_going *going, const struct os_late_event *event);

/* The text, cut or padded to 16 bytes, as the record has it. */
void late_name(uint64_t name[2], const char *text, size_t most);

#endif
