#include "late_perf_events.h"

#include "late_recorder.h"
#include "tracefs.h"

#include "format.h"

#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 96, FORMAT_BYTES = 4096 };

/* An event and the names of its fields; NULL: it has no such part. */
struct known {
    const char *event;
    enum os_late_kind kind;
    int64_t vector;
    const char *parts[LATE_PARTS];
};

#define VECTOR(name, vector)                                                                                          \
    {"irq_vectors/" name "_entry", OS_LATE_VECTOR_BEGIN, vector, {0}},                                                \
    {                                                                                                                 \
        "irq_vectors/" name "_exit", OS_LATE_VECTOR_END, vector, {0}                                                  \
    }

static const struct known known_events[] = {
    {"sched/sched_switch",
     OS_LATE_SWITCH,
     0,
     {"next_pid", "prev_pid", "next_prio", "prev_state", "next_comm"}},
    {"sched/sched_waking", OS_LATE_WAKE, 0, {"pid", "target_cpu", "prio", NULL, "comm"}},
    {"irq/irq_handler_entry", OS_LATE_IRQ_BEGIN, 0, {"irq", NULL, NULL, NULL, "name"}},
    {"irq/irq_handler_exit", OS_LATE_IRQ_END, 0, {"irq"}},
    {"irq/softirq_entry", OS_LATE_SOFTIRQ_BEGIN, 0, {"vec"}},
    {"irq/softirq_exit", OS_LATE_SOFTIRQ_END, 0, {"vec"}},
    {"nmi/nmi_handler", OS_LATE_NMI, 0, {NULL, "delta_ns", NULL, "handler"}},
    VECTOR("local_timer", OS_LATE_VECTOR_LOCAL_TIMER),
    VECTOR("reschedule", OS_LATE_VECTOR_RESCHEDULE),
    VECTOR("call_function", OS_LATE_VECTOR_CALL_FUNCTION),
    VECTOR("call_function_single", OS_LATE_VECTOR_CALL_FUNCTION_SINGLE), /* irq_work: perf may not, it uses it itself */
    VECTOR("thermal_apic", OS_LATE_VECTOR_THERMAL),
    VECTOR("x86_platform_ipi", OS_LATE_VECTOR_OTHER),
    VECTOR("error_apic", OS_LATE_VECTOR_OTHER),
    VECTOR("spurious_apic", OS_LATE_VECTOR_OTHER),
    VECTOR("threshold_apic", OS_LATE_VECTOR_OTHER),
    VECTOR("deferred_error_apic", OS_LATE_VECTOR_OTHER),
    {"ipi/ipi_entry", OS_LATE_VECTOR_BEGIN, OS_LATE_VECTOR_OTHER, {0}}, /* arm, arm64 */
    {"ipi/ipi_exit", OS_LATE_VECTOR_END, OS_LATE_VECTOR_OTHER, {0}},
    {"timer/hrtimer_expire_entry", OS_LATE_TIMER_BEGIN, 0, {"now", NULL, NULL, "function"}},
    {"timer/hrtimer_expire_exit", OS_LATE_TIMER_END, 0, {0}},
    {"power/cpu_idle", OS_LATE_IDLE_BEGIN, 0, {"state"}},
    {"power/cpu_frequency", OS_LATE_FREQUENCY, 0, {"state"}},
    {"exceptions/page_fault_user", OS_LATE_FAULT, 0, {"address", NULL, NULL, "ip"}},
    {"exceptions/page_fault_kernel", OS_LATE_FAULT, 0, {"address", NULL, NULL, "ip"}},
    {"workqueue/workqueue_execute_start", OS_LATE_WORK_BEGIN, 0, {NULL, NULL, NULL, "function"}},
    {"workqueue/workqueue_execute_end", OS_LATE_WORK_END, 0, {0}},
};
_Static_assert(sizeof known_events / sizeof known_events[0] <= LATE_LAYOUTS_LIMIT, "each has its place");

static enum os_status read_layout(int tracing, const struct known *known, struct late_layout *layout)
{
    char path[PATH_BYTES];
    char format[FORMAT_BYTES];
    format_text(path, sizeof path, "events/%s/format", known->event);
    const enum os_status status = tracefs_read(tracing, path, format, sizeof format);
    if (status != OS_OK) {
        return status;
    }
    *layout = (struct late_layout){.number = trace_format_id(format), .kind = known->kind, .vector = known->vector};
    for (int i = 0; i < LATE_PARTS; i++) {
        if (known->parts[i] != NULL && !trace_format_find_any(format, known->parts[i], &layout->parts[i])) {
            return OS_FAILED;
        }
    }
    return layout->number != UINT32_MAX ? OS_OK : OS_FAILED;
}

static bool has_kind(const struct late_layout *layouts, uint32_t count, enum os_late_kind kind)
{
    for (uint32_t i = 0; i < count; i++) {
        if (layouts[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static void tell_missing(const struct late_layout *layouts, uint32_t count, const char *missing[OS_LATE_KIND_LIMIT])
{
    static const char no_event[] = "this kernel has no trace event for it, or one that looks otherwise than is known here";
    for (int kind = 1; kind < OS_LATE_KIND_LIMIT; kind++) {
        missing[kind] = has_kind(layouts, count, (enum os_late_kind)kind) ? NULL : no_event;
    }
    missing[OS_LATE_IDLE_END] = missing[OS_LATE_IDLE_BEGIN]; /* one event tells both */
    missing[OS_LATE_STEAL] = "trace events do not tell it";
    missing[OS_LATE_SMI] = "trace events do not tell it";
    missing[OS_LATE_STACK] = "perf would take one of each event of a kind, late or not, and that takes 2 us or more";
}

enum os_status late_layouts_read(struct late_layout *layouts, uint32_t *count, const char *missing[OS_LATE_KIND_LIMIT])
{
    int tracing = -1;
    enum os_status status = tracefs_open(&tracing);
    if (status != OS_OK) {
        return status;
    }
    *count = 0;
    for (size_t i = 0; i < sizeof known_events / sizeof known_events[0]; i++) {
        status = read_layout(tracing, &known_events[i], &layouts[*count]);
        if (status == OS_NOT_PERMITTED) {
            break;
        }
        *count += status == OS_OK ? 1 : 0;
    }
    close(tracing);
    if (status == OS_NOT_PERMITTED) {
        return status;
    }
    tell_missing(layouts, *count, missing);
    return missing[OS_LATE_SWITCH] == NULL ? OS_OK : OS_UNSUPPORTED;
}

static bool read_number(const struct trace_field *field, const uint8_t *fields, size_t bytes, bool is_signed, int64_t *value)
{
    if (field->offset > bytes || field->bytes > bytes - field->offset) {
        return false;
    }
    const uint8_t *const at = fields + field->offset;
    int32_t half;
    uint32_t positive;
    switch (field->bytes) {
    case sizeof(int64_t):
        memcpy(value, at, sizeof *value);
        return true;
    case sizeof(int32_t):
        memcpy(&half, at, sizeof half);
        memcpy(&positive, at, sizeof positive);
        *value = is_signed ? half : (int64_t)positive;
        return true;
    default:
        return false;
    }
}

/* The text lies there itself, or behind a word with its place and length (__data_loc). */
static bool read_name(const struct trace_field *field, const uint8_t *fields, size_t bytes, uint64_t name[2])
{
    enum { PLACE_BITS = 16, PLACE_MASK = 0xffff };
    size_t at = field->offset;
    size_t length = field->bytes;
    if (length == sizeof(uint32_t)) {
        int64_t place = 0;
        if (!read_number(field, fields, bytes, false, &place)) {
            return false;
        }
        at = (size_t)place & PLACE_MASK;
        length = (size_t)place >> PLACE_BITS;
    }
    if (at > bytes || length > bytes - at) {
        return false;
    }
    late_name(name, (const char *)fields + at, length);
    return true;
}

/* A thread that was taken off the CPU has a bit above those of sleeping and ending. */
static uint64_t state_of(uint64_t told)
{
    enum { ASLEEP_OR_ENDED = 0xff };
    return told & ASLEEP_OR_ENDED;
}

bool late_layout_decode(const struct late_layout *layout, const uint8_t *fields, size_t bytes, struct os_late_event *event)
{
    event->kind = layout->kind;
    event->id = layout->vector;
    event->other = layout->kind == OS_LATE_TIMER_BEGIN ? INT64_MIN : 0;
    event->priority = INT64_MIN;
    int64_t address = 0;
    const struct trace_field *const parts = layout->parts;
    const bool read = (parts[LATE_ID].bytes == 0 || read_number(&parts[LATE_ID], fields, bytes, true, &event->id)) &&
                      (parts[LATE_OTHER].bytes == 0 || read_number(&parts[LATE_OTHER], fields, bytes, true, &event->other)) &&
                      (parts[LATE_PRIORITY].bytes == 0 ||
                       read_number(&parts[LATE_PRIORITY], fields, bytes, true, &event->priority)) &&
                      (parts[LATE_ADDRESS].bytes == 0 || read_number(&parts[LATE_ADDRESS], fields, bytes, false, &address)) &&
                      (parts[LATE_NAME].bytes == 0 || read_name(&parts[LATE_NAME], fields, bytes, event->name));
    event->address = layout->kind == OS_LATE_SWITCH ? state_of((uint64_t)address) : (uint64_t)address;
    if (layout->kind == OS_LATE_IDLE_BEGIN && event->id < 0) { /* PWR_EVENT_EXIT */
        event->kind = OS_LATE_IDLE_END;
        event->id = 0;
    }
    return read;
}
