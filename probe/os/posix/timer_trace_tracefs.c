/* Reading how the timer's trace events look. */
#include "timer_trace_format.h"
#include "tracefs.h"

#include "format.h"

#include <unistd.h>

enum { PATH_BYTES = 64, ID_BYTES = 16, FORMAT_BYTES = 4096 };

static enum os_status read_event(int tracing, const char *name, const char *time, struct trace_event *event)
{
    char path[PATH_BYTES];
    char id[ID_BYTES];
    char format[FORMAT_BYTES];
    format_text(path, sizeof path, "events/timer/%s/id", name);
    enum os_status status = tracefs_read(tracing, path, id, sizeof id);
    if (status == OS_OK) {
        format_text(path, sizeof path, "events/timer/%s/format", name);
        status = tracefs_read(tracing, path, format, sizeof format);
    }
    if (status != OS_OK) {
        return status;
    }
    return trace_event_parse(event, id, format, time) ? OS_OK : OS_FAILED;
}

enum os_status timer_events_read(struct timer_events *events)
{
    int tracing = -1;
    enum os_status status = tracefs_open(&tracing);
    if (status != OS_OK) {
        return status;
    }
    status = read_event(tracing, "hrtimer_start", "softexpires", &events->start);
    if (status == OS_OK) {
        status = read_event(tracing, "hrtimer_expire_entry", "now", &events->expire);
    }
    close(tracing);
    return status == OS_NOT_FOUND ? OS_UNSUPPORTED : status;
}
