/* Late cycles in the stream's own description (docs/stream.md). */
#include "record/late.h"
#include "record/recorder_parts.h"

void late_tables_to_json(struct json *json, const struct recorder *recorder)
{
    if (recorder->late == NULL) {
        return;
    }
    json_open_object(json, NULL);
    json_text(json, "name", "late_cycles");
    json_open_array(json, "columns");
    column_to_json(json, "from_ns", "i64", "ns", "beginning of the late cycle", false);
    column_to_json(json, "until_ns", "i64", "ns", "its end", false);
    column_to_json(json, "cpu", "i64", "1", "CPU whose events these are", true);
    column_to_json(json, "tid", "i64", "1", "thread, as the kernel numbers it", true);
    column_to_json(json, "events", "u64", "1", "rows of late_events that follow", false);
    column_to_json(json, "lost", "u64", "1", "events that were overwritten", false);
    column_to_json(json, "left_out", "u64", "1", "events beyond the limit", false);
    column_to_json(json, "counted_from_ns", "i64", "ns", "since when the next columns count", false);
    column_to_json(json, "preempted", "i64", "1", "involuntary switches of the thread", true);
    column_to_json(json, "faults", "i64", "1", "page faults of the thread", true);
    column_to_json(json, "steal_ns", "i64", "ns", "what the hypervisor took from the CPU", true);
    json_close_array(json);
    json_close_object(json);
    json_open_object(json, NULL);
    json_text(json, "name", "late_events");
    json_open_array(json, "columns");
    column_to_json(json, "time_ns", "i64", "ns", "when it happened", false);
    column_to_json(json, "kind", "i64", "1", "what happened", false);
    column_to_json(json, "id", "i64", "1", "what it happened to, by its kind", true);
    column_to_json(json, "other", "i64", "1", "what else took part, by its kind", true);
    column_to_json(json, "priority", "i64", "1", "kernel's priority of the thread", true);
    column_to_json(json, "address", "u64", "1", "function, or state of the previous thread", false);
    column_to_json(json, "name_0", "u64", "1", "first half of a name", false);
    column_to_json(json, "name_1", "u64", "1", "second half of a name", false);
    json_close_array(json);
    json_close_object(json);
}

static void kinds_to_json(struct json *json, const struct os_late_trace *trace)
{
    json_open_array(json, "kinds");
    for (int kind = 1; kind < OS_LATE_KIND_LIMIT; kind++) {
        if (os_late_trace_records(trace, (enum os_late_kind)kind).availability == OS_PRESENT) {
            json_text(json, NULL, os_late_kind_name((enum os_late_kind)kind));
        }
    }
    json_close_array(json);
    json_open_array(json, "missing");
    for (int kind = 1; kind < OS_LATE_KIND_LIMIT; kind++) {
        const struct os_answer answer = os_late_trace_records(trace, (enum os_late_kind)kind);
        if (answer.availability != OS_PRESENT) {
            json_open_object(json, NULL);
            json_text(json, "name", os_late_kind_name((enum os_late_kind)kind));
            json_text(json, "why", answer.why);
            json_close_object(json);
        }
    }
    json_close_array(json);
    json_boolean(json, "steal", os_late_trace_records(trace, OS_LATE_STEAL).availability == OS_PRESENT);
    json_boolean(json, "smi", os_late_trace_records(trace, OS_LATE_SMI).availability == OS_PRESENT);
}

static void cost_to_json(struct json *json, const struct late_cost *cost)
{
    if (cost->cycles == 0) {
        json_null(json, "cost");
        return;
    }
    json_open_object(json, "cost");
    json_integer(json, "median_with_ns", cost->median_with_ns);
    json_integer(json, "median_without_ns", cost->median_without_ns);
    json_integer(json, "p99_with_ns", cost->p99_with_ns);
    json_integer(json, "p99_without_ns", cost->p99_without_ns);
    json_unsigned(json, "cycles", cost->cycles);
    json_close_object(json);
}

void late_to_json(struct json *json, const struct recorder *recorder)
{
    const struct late *const late = recorder->late;
    if (late == NULL) {
        return;
    }
    const struct blame *const blame = &recorder->options.blame;
    char cpus[CPU_LIST_TEXT_BYTES];
    cpu_list_to_text(&late->cpus, cpus);
    json_open_object(json, "blame");
    json_text_or_null(json, "recorder", late->trace != NULL ? os_late_trace_name(late->trace) : NULL);
    json_text_or_null(json, "why", late->why[0] != '\0' ? late->why : NULL);
    json_text(json, "measure", recorder->schema->measures[recorder->schema->late_measure].name);
    if (blame->threshold_ns > 0) {
        json_integer(json, "threshold_ns", blame->threshold_ns);
    } else {
        json_text(json, "share", blame->text);
    }
    json_text(json, "cpus", cpus);
    if (late->trace != NULL) {
        json_unsigned(json, "ring_bytes", os_late_trace_ring_bytes(late->trace));
        kinds_to_json(json, late->trace);
        cost_to_json(json, &late->cost);
    }
    json_close_object(json);
}

void late_book_to_json(struct json *json, const struct recorder *recorder, uint32_t index)
{
    if (recorder->late != NULL) {
        const struct late_source *const source = &recorder->late->sources[index];
        json_unsigned(json, "late", source->late);
        json_unsigned(json, "late_kept", source->kept);
        json_unsigned(json, "late_lost_events", source->lost_events);
    }
}

static void write_stacks(struct recorder *recorder)
{
    const struct late *const late = recorder->late;
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "event", "stacks");
    json_integer(&json, "time_ns", os_now_ns());
    json_open_array(&json, "stacks");
    for (size_t i = 0; i < late->stack_count; i++) {
        uint64_t addresses[OS_LATE_STACK_DEPTH];
        const size_t depth = os_late_trace_stack(late->trace, late->stacks[i], addresses);
        json_open_object(&json, NULL);
        json_integer(&json, "id", late->stacks[i]);
        json_open_array(&json, "addresses");
        for (size_t k = 0; k < depth; k++) {
            json_unsigned(&json, NULL, addresses[k]);
        }
        json_close_array(&json);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    stream_write_json(&recorder->stream, FRAME_EVENT, &json);
    json_free(&json);
}

static void symbol_to_json(void *argument, uint64_t address, const char *name)
{
    struct json *const json = argument;
    json_open_object(json, NULL);
    json_unsigned(json, "address", address);
    json_text(json, "name", name);
    json_close_object(json);
}

static void write_symbols(struct recorder *recorder)
{
    const struct late *const late = recorder->late;
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "event", "symbols");
    json_integer(&json, "time_ns", os_now_ns());
    json_open_array(&json, "symbols");
    const enum os_status status = os_kernel_symbols(late->addresses, late->address_count, symbol_to_json, &json);
    json_close_array(&json);
    if (status == OS_NOT_PERMITTED) {
        json_text(&json, "why", "the kernel hides where its functions are: kernel.kptr_restrict, or CAP_SYSLOG is lacking");
    } else if (status != OS_OK) {
        json_text(&json, "why", os_status_text(status));
    }
    json_close_object(&json);
    stream_write_json(&recorder->stream, FRAME_EVENT, &json);
    json_free(&json);
}

void late_write_names(struct recorder *recorder)
{
    if (recorder->late != NULL && recorder->late->trace != NULL) {
        write_stacks(recorder);
        write_symbols(recorder);
    }
}
