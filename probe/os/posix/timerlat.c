/*
 * The tracer timerlat of Linux (kernel/trace/trace_osnoise.c). On each CPU the kernel has a thread, FIFO 95, that arms a
 * timer for an absolute instant and sleeps. The timer's handler reads the clock, tells how late it is and wakes the
 * thread, which does the same and arms the timer anew. Both tell it in the trace buffer of their CPU, which is read
 * here as it lies there, page by page, so that no text is made and none is read.
 */
#include "os/timerlat.h"

#include "os/tasks.h"

#include "linux.h"
#include "status.h"
#include "timer_trace_format.h"
#include "timerlat_settings.h"
#include "trace_page.h"
#include "tracefs.h"

#include "format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FORMAT_BYTES = 4096, PATH_BYTES = 384, LARGEST_PAGE = 65536, OWN_PRIORITY = 95 };
enum { NS_PER_US = 1000 };
static const int64_t ns_per_s = 1000000000;

/* Where the kernel puts what we read of an event. */
struct layout {
    uint32_t id;
    size_t commit_bytes;
    struct trace_field thread;
    struct trace_field activation;
    struct trace_field context;
    struct trace_field latency;
};

struct os_timerlat {
    int tracing; /* tracefs's folder */
    char instance[INSTANCE_BYTES];
    int lock; /* of the instance */
    struct layout layout;
    unsigned char *page;
    uint32_t count;
    int cpus[]; /* their buffers */
};

static struct os_answer absent(const char *why)
{
    return (struct os_answer){OS_ABSENT, why};
}

static struct os_answer why_not(enum os_status status)
{
    switch (status) {
    case OS_NOT_PERMITTED:
        return (struct os_answer){OS_DENIED, "this user may not change the kernel's tracing. Run as root; where root is "
                                             "refused, it is in a container without CAP_SYS_ADMIN, or the kernel is "
                                             "locked down (/sys/kernel/security/lockdown)"};
    case OS_UNSUPPORTED:
    case OS_NOT_FOUND:
        return absent("this kernel has no tracing, or /sys is not mounted. It needs CONFIG_TIMERLAT_TRACER");
    case OS_INVALID:
        return absent("the kernel does not take these CPUs (some take 255 characters), or this period");
    case OS_NO_SPACE:
        return absent("what osnoise/cpus holds is too long to be noted. Write a shorter list there: 0-63");
    default:
        return absent(os_status_text(status));
    }
}

static bool read_layout(int tracing, struct layout *layout)
{
    char format[FORMAT_BYTES];
    struct trace_field commit;
    if (tracefs_read(tracing, "events/header_page", format, sizeof format) != OS_OK ||
        !trace_format_find(format, "commit", &commit) ||
        tracefs_read(tracing, "events/ftrace/timerlat/format", format, sizeof format) != OS_OK) {
        return false;
    }
    layout->commit_bytes = commit.bytes;
    layout->id = trace_format_id(format);
    return layout->id != UINT32_MAX && trace_format_find(format, "common_pid", &layout->thread) &&
           trace_format_find(format, "seqnum", &layout->activation) &&
           trace_format_find(format, "context", &layout->context) &&
           trace_format_find(format, "timer_latency", &layout->latency) && layout->thread.bytes == sizeof(int32_t) &&
           layout->activation.bytes == sizeof(uint32_t) && layout->context.bytes == sizeof(int32_t) &&
           layout->latency.bytes == sizeof(int64_t);
}

/* Is it there, is nobody else at it, and is its trace what is known here? */
static struct os_answer look(struct os_timerlat *trace, uint32_t *left_over)
{
    char tracers[FORMAT_BYTES];
    const enum os_status status = tracefs_read(trace->tracing, "available_tracers", tracers, sizeof tracers);
    if (status != OS_OK) {
        return why_not(status);
    }
    if (!tracefs_has_word(tracers, "timerlat")) {
        return absent("this kernel was built without CONFIG_TIMERLAT_TRACER. Debian's PREEMPT_RT kernels have it "
                      "(linux-image-rt-amd64, linux-image-rt-arm64)");
    }
    *left_over = timerlat_settings_clean_up(trace->tracing);
    if (timerlat_in_use(trace->tracing)) {
        return absent("another program measures with the kernel's timerlat or osnoise just now, and their settings are one "
                      "for all. Wait for its end");
    }
    if (!read_layout(trace->tracing, &trace->layout)) {
        return absent("this kernel's timerlat events look otherwise than is known here");
    }
    return (struct os_answer){OS_PRESENT, ""};
}

static enum os_status write_own(const struct os_timerlat *trace, const char *name, const char *value)
{
    char path[PATH_BYTES];
    format_text(path, sizeof path, "%s/%s", trace->instance, name);
    return tracefs_write(trace->tracing, path, value);
}

static enum os_status open_buffers(struct os_timerlat *trace, const int32_t *cpus, uint32_t count)
{
    char path[PATH_BYTES];
    for (uint32_t i = 0; i < count; i++) {
        format_text(path, sizeof path, "%s/per_cpu/cpu%" PRId32 "/trace_pipe_raw", trace->instance, cpus[i]);
        trace->cpus[i] = openat(trace->tracing, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (trace->cpus[i] < 0) {
            return os_status_from_errno(errno);
        }
        trace->count = i + 1;
    }
    return OS_OK;
}

static struct os_answer begin(struct os_timerlat *trace, const int32_t *cpus, uint32_t count, int64_t period_ns)
{
    enum os_status status =
        timerlat_settings_make(trace->tracing, cpus, count, period_ns / NS_PER_US, trace->instance, &trace->lock);
    if (status != OS_OK) {
        trace->instance[0] = '\0';
        return why_not(status);
    }
    status = write_own(trace, "trace_clock", "mono"); /* the measuring clock */
    if (status == OS_OK) {
        status = write_own(trace, "current_tracer", "timerlat"); /* no longer possible when a buffer is being read */
        if (status == OS_INVALID) {
            return absent("this kernel's timerlat writes into the system's one trace only. Linux 5.17 and later have it for "
                          "a trace of one's own");
        }
    }
    if (status == OS_OK) {
        status = open_buffers(trace, cpus, count);
    }
    return status == OS_OK ? (struct os_answer){OS_PRESENT, ""} : why_not(status);
}

struct os_answer os_timerlat_open(struct os_timerlat **trace, const int32_t *cpus, uint32_t count, int64_t period_ns,
                                  uint32_t *left_over)
{
    *left_over = 0;
    struct os_timerlat *const made = calloc(1, sizeof *made + count * sizeof made->cpus[0]);
    if (made == NULL) {
        return absent(os_status_text(OS_NO_MEMORY));
    }
    made->page = malloc(LARGEST_PAGE);
    const enum os_status status = made->page == NULL ? OS_NO_MEMORY : tracefs_open(&made->tracing);
    if (status != OS_OK) {
        free(made->page);
        free(made);
        return why_not(status);
    }
    struct os_answer answer = look(made, left_over);
    if (answer.availability == OS_PRESENT) {
        answer = begin(made, cpus, count, period_ns);
    }
    if (answer.availability == OS_PRESENT) {
        *trace = made;
    } else {
        os_timerlat_close(made);
    }
    return answer;
}

bool os_timerlat_close(struct os_timerlat *trace)
{
    if (trace == NULL) {
        return true;
    }
    for (uint32_t i = 0; i < trace->count; i++) {
        close(trace->cpus[i]);
    }
    const bool put_back =
        trace->instance[0] == '\0' || timerlat_settings_put_back(trace->tracing, trace->instance, trace->lock) == OS_OK;
    close(trace->tracing);
    free(trace->page);
    free(trace);
    return put_back;
}

static uint32_t field_of(const unsigned char *event, const struct trace_field *field)
{
    uint32_t value;
    memcpy(&value, event + field->offset, sizeof value);
    return value;
}

/* False: another kind of event, or of the third kind, which a user's thread can add. */
static bool understand(const struct layout *layout, const unsigned char *bytes, size_t length, uint64_t time_ns,
                       struct os_timerlat_event *event)
{
    enum { IN_HANDLER = 0, IN_THREAD = 1 };
    uint16_t id;
    int64_t latency_ns;
    memcpy(&id, bytes, sizeof id);
    if (id != layout->id || layout->latency.offset + sizeof latency_ns > length ||
        layout->activation.offset + sizeof(uint32_t) > length || layout->context.offset + sizeof(uint32_t) > length) {
        return false;
    }
    const uint32_t context = field_of(bytes, &layout->context);
    memcpy(&latency_ns, bytes + layout->latency.offset, sizeof latency_ns);
    *event = (struct os_timerlat_event){
        .noted_ns = (int64_t)time_ns,
        .latency_ns = latency_ns,
        .activation = field_of(bytes, &layout->activation),
        .by_thread = context == IN_THREAD,
        .thread = (int32_t)field_of(bytes, &layout->thread),
    };
    return context == IN_HANDLER || context == IN_THREAD;
}

enum os_status os_timerlat_read(struct os_timerlat *trace, uint32_t index, os_timerlat_visitor visit, void *argument)
{
    for (;;) {
        const ssize_t got = read(trace->cpus[index], trace->page, LARGEST_PAGE);
        if (got <= 0) {
            return got == 0 || errno == EAGAIN || errno == EINTR ? OS_OK : os_status_from_errno(errno);
        }
        struct trace_page page;
        const unsigned char *bytes = NULL;
        size_t length = 0;
        uint64_t time_ns = 0;
        trace_page_begin(&page, trace->page, (size_t)got, trace->layout.commit_bytes);
        while (trace_page_next(&page, &bytes, &length, &time_ns)) {
            struct os_timerlat_event event;
            if (understand(&trace->layout, bytes, length, time_ns, &event)) {
                visit(argument, &event);
            }
        }
    }
}

bool os_timerlat_thread(int64_t thread, struct os_thread_obtained *obtained)
{
    uint64_t start = 0;
    if (thread <= 0 || !os_task_start(thread, &start, NULL)) {
        return false;
    }
    linux_task_read_back(thread, obtained);
    return true;
}

int64_t os_timerlat_thread_cpu_time_ns(int64_t thread)
{
    clockid_t clock;
    struct timespec time;
    if (thread <= 0 || clock_getcpuclockid((pid_t)thread, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        return INT64_MIN;
    }
    return time.tv_sec * ns_per_s + time.tv_nsec;
}

int32_t os_timerlat_below_highest(void)
{
    int32_t below = 0;
    os_priority_from_native(OS_POLICY_FIFO, OWN_PRIORITY, &below);
    return below;
}
