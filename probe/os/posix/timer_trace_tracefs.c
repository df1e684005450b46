/*
 * Reading how trace events look: tracefs(5). Where nobody has mounted it, a thread of its own mounts it in a mount
 * namespace of its own (mount_namespaces(7)): nobody else ever sees the mount, and it is gone when the thread ends.
 */
#define _GNU_SOURCE /* unshare */
#include "status.h"
#include "timer_trace_format.h"

#include "format.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

enum { PATH_BYTES = 128, ID_BYTES = 16, FORMAT_BYTES = 4096 };

static const char mount_point[] = "/sys/kernel/tracing";
static const char *const places[] = {mount_point, "/sys/kernel/debug/tracing"};

static enum os_status read_file(const char *path, char *text, size_t bytes)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return os_status_from_errno(errno);
    }
    size_t filled = 0;
    ssize_t got = 1;
    while (got > 0 && filled < bytes - 1) {
        got = read(file, text + filled, bytes - 1 - filled);
        filled += got > 0 ? (size_t)got : 0;
    }
    const enum os_status status = got < 0 ? os_status_from_errno(errno) : OS_OK;
    close(file);
    text[filled] = '\0';
    return status;
}

static enum os_status read_event(const char *place, const char *name, const char *time, struct trace_event *event)
{
    char path[PATH_BYTES];
    char id[ID_BYTES];
    char format[FORMAT_BYTES];
    format_text(path, sizeof path, "%s/events/timer/%s/id", place, name);
    enum os_status status = read_file(path, id, sizeof id);
    if (status == OS_OK) {
        format_text(path, sizeof path, "%s/events/timer/%s/format", place, name);
        status = read_file(path, format, sizeof format);
    }
    if (status != OS_OK) {
        return status;
    }
    return trace_event_parse(event, id, format, time) ? OS_OK : OS_FAILED;
}

static enum os_status read_events(const char *place, struct timer_events *events)
{
    const enum os_status status = read_event(place, "hrtimer_start", "softexpires", &events->start);
    return status == OS_OK ? read_event(place, "hrtimer_expire_entry", "now", &events->expire) : status;
}

struct errand {
    struct timer_events *events;
    enum os_status status;
};

static void read_where_nobody_sees(void *argument)
{
    struct errand *const errand = argument;
    if (unshare(CLONE_NEWNS | CLONE_FS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        errand->status = os_status_from_errno(errno);
    } else if (mount("tracefs", mount_point, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        errand->status = errno == ENODEV || errno == ENOENT ? OS_UNSUPPORTED : os_status_from_errno(errno);
    } else {
        errand->status = read_events(mount_point, errand->events);
    }
}

enum os_status timer_events_read(struct timer_events *events)
{
    enum os_status refused = OS_NOT_FOUND;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const enum os_status status = read_events(places[i], events);
        if (status == OS_OK || status == OS_FAILED) {
            return status;
        }
        refused = status == OS_NOT_PERMITTED ? status : refused;
    }
    if (refused == OS_NOT_PERMITTED) {
        return refused; /* mounted, and closed to this user */
    }
    struct errand errand = {.events = events};
    struct os_thread *thread = NULL;
    const struct os_thread_attributes attributes = {.name = "tauto-tracefs", .cpu = OS_CPU_ANY};
    const enum os_status started = os_thread_create(&thread, &attributes, read_where_nobody_sees, &errand);
    if (started != OS_OK) {
        return started;
    }
    os_thread_join(thread);
    return errand.status == OS_NOT_FOUND ? OS_UNSUPPORTED : errand.status;
}
