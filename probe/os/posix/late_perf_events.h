/* The trace events of Linux that tell what a CPU did, and how each becomes a record (os/late_trace.h). */
#ifndef TAUTO_POSIX_LATE_PERF_EVENTS_H
#define TAUTO_POSIX_LATE_PERF_EVENTS_H

#include "os/late_trace.h"
#include "timer_trace_format.h"

enum late_part { LATE_ID, LATE_OTHER, LATE_PRIORITY, LATE_ADDRESS, LATE_NAME, LATE_PARTS };

struct late_layout {
    uint32_t number; /* the kernel's, of the event */
    enum os_late_kind kind;
    int64_t vector;                       /* of interrupt vectors: the id, which is not among the fields */
    struct trace_field parts[LATE_PARTS]; /* 0 bytes: it has none */
};

enum { LATE_LAYOUTS_LIMIT = 48 };

/* Those that this kernel has, and why it lacks a kind (`missing`, NULL: it does not). At least the switch is among them, or
 * else OS_UNSUPPORTED. OS_NOT_PERMITTED. */
enum os_status late_layouts_read(struct late_layout *layouts, uint32_t *count, const char *missing[OS_LATE_KIND_LIMIT]);

/* From the fields of an event, `bytes` of them, as the kernel wrote them. False: that is too short. */
bool late_layout_decode(const struct late_layout *layout, const uint8_t *fields, size_t bytes, struct os_late_event *event);

#endif
