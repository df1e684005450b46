/* Where the fields of Linux's trace events lie, as the kernel itself describes them (tracefs, `format`). */
#ifndef TAUTO_POSIX_TIMER_TRACE_FORMAT_H
#define TAUTO_POSIX_TIMER_TRACE_FORMAT_H

#include "os/os.h"

struct trace_field {
    uint32_t offset;
    uint32_t bytes;
};

/* What we read of timer:hrtimer_start and of timer:hrtimer_expire_entry. */
struct trace_event {
    uint32_t id;
    struct trace_field timer; /* hrtimer: its address, which tells it from others */
    struct trace_field time;  /* softexpires: the instant asked for; or now: the handler's reading of the clock */
};

struct timer_events {
    struct trace_event start;
    struct trace_event expire;
};

/* False where the format has no such field, or one that a program can't read: neither of 4 nor of 8 bytes, or not
 * aligned to them, as the kernel wants it (64-bit fields of a 32-bit x86 are not). */
bool trace_format_find(const char *format, const char *name, struct trace_field *field);

/* The same of a field of any size; `name` is without the brackets of an array. */
bool trace_format_find_any(const char *format, const char *name, struct trace_field *field);

/* The event's number, from its format; UINT32_MAX where there is none. */
uint32_t trace_format_id(const char *format);

/* The event as its `id` and `format` files describe it; `time` is the field's name. False where that is not understood. */
bool trace_event_parse(struct trace_event *event, const char *id, const char *format, const char *time);

/* From tracefs where it is mounted; otherwise from a mount that nobody else sees and that is gone afterwards.
 * OS_NOT_PERMITTED, OS_UNSUPPORTED: no such events in this kernel; OS_FAILED: they look otherwise than we know. */
enum os_status timer_events_read(struct timer_events *events);

#endif
