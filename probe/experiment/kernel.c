/*
 * The intervals of `interrupt`, `period` and `response` in kernel space (koh2013's kernel rows, laurich2004's t1),
 * measured by timers and threads of the kernel itself. The kernel half (kmod/) takes the time stamps and keeps the
 * books; here they are read, now and then, and written as any other sample stream. The columns, and what is measured
 * between them, are those of the user-space experiments, so that both can be compared row by row.
 */
#include "experiment/experiment.h"
#include "experiment/kernel_rows.h"
#include "experiment/schemas.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>

static const struct schema *const schemas[] = {
    [KERNEL_INTERRUPT] = &interrupt_schema,
    [KERNEL_PERIOD] = &period_schema,
    [KERNEL_RESPONSE] = &response_schema,
};

static const char *const what_mechanisms[KERNEL_MECHANISM_COUNT] = {
    [KERNEL_SEMAPHORE] = "a semaphore between two kernel threads",
    [KERNEL_COMPLETION] = "a completion between two kernel threads",
    [KERNEL_FIFO] = "a kfifo with a wait queue between two kernel threads",
    [KERNEL_MESSAGE] = "a mailbox between two kernel threads: an rt_mutex with wait queues",
    [KERNEL_USER] = "a kfifo with a wait queue from a kernel thread to a user thread, and back",
};

static void describe(const struct kernel_rows *rows, uint32_t index)
{
    const struct kernel_table_row *const row = &rows->rows[index];
    struct source *const source = &rows->recorder->sources[index];
    const bool pairs = rows->options->measure == KERNEL_RESPONSE;
    char period[PERIOD_TEXT_BYTES];
    char far[16] = "";
    period_to_text(period, row->period_ns);
    if (row->cpus[0] != row->cpus[1]) {
        format_text(far, sizeof far, " to cpu%" PRId32, row->cpus[1]);
    }
    format_text(source->name, sizeof source->name, "%s%s%s, cpu%" PRId32 "%s",
                pairs ? kernel_mechanisms[row->mechanism] : "", pairs ? ", " : "", period, row->cpus[0], far);
    source->what = pairs                                         ? what_mechanisms[row->mechanism]
                   : rows->options->measure == KERNEL_INTERRUPT ? "a timer of the kernel and the thread that it wakes"
                                                                 : "one periodic kernel thread";
}

static void task_to_json(struct json *json, const struct kernel_rows *rows, const struct kernel_table_row *row,
                         int task)
{
    static const char *const roles[] = {"task 1", "task 2"};
    const struct os_thread_attributes wanted = kernel_rows_requested(rows, row, task);
    json_text(json, "role", rows->options->measure == KERNEL_RESPONSE ? roles[task] : "task");
    requested_to_json(json, &wanted);
    obtained_to_json(json, OS_POLICY_FIFO, &row->obtained[task]);
}

static void source_to_json(struct json *json, const struct kernel_rows *rows, uint32_t index)
{
    const struct kernel_table_row *const row = &rows->rows[index];
    json_open_object(json, NULL);
    recorder_source_to_json(rows->recorder, json, index);
    json_integer(json, "period_ns", row->period_ns);
    task_to_json(json, rows, row, 0);
    json_open_array(json, "partners");
    if (rows->options->measure == KERNEL_RESPONSE) {
        json_open_object(json, NULL);
        task_to_json(json, rows, row, 1);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

/* As the sources: which is which, for readers. */
static void rows_to_json(struct json *json, const struct kernel_rows *rows)
{
    json_open_array(json, "rows");
    for (uint32_t i = 0; i < rows->count && rows->options->measure == KERNEL_RESPONSE; i++) {
        const struct kernel_table_row *const row = &rows->rows[i];
        json_open_object(json, NULL);
        json_text(json, "mechanism", kernel_mechanisms[row->mechanism]);
        json_text(json, "place", row->cpus[0] == row->cpus[1] ? "same" : "different");
        json_integer(json, "period_ns", row->period_ns);
        json_close_object(json);
    }
    json_close_array(json);
}

static int write_header(const struct kernel_rows *rows)
{
    struct json json;
    recorder_header_begin(rows->recorder, &json, "kernel");
    json_open_object(&json, "parameters");
    kernel_options_to_json(&json, rows->options, (int64_t)rows->recorder->options.ring_rows);
    rows_to_json(&json, rows);
    json_close_object(&json);
    json_open_array(&json, "sources");
    for (uint32_t i = 0; i < rows->count; i++) {
        source_to_json(&json, rows, i);
    }
    json_close_array(&json);
    conditions_to_json(&json, &rows->options->stage.conditions);
    return recorder_header_end(rows->recorder, &json);
}

/* The thread that follows the kernel half is an ordinary one: it only reads. Its end is that of the last row. */
static int run(struct kernel_rows *rows)
{
    const struct os_thread_attributes follower = {
        .name = "tauto-follower", .policy = OS_POLICY_OTHER, .cpu = OS_CPU_ANY};
    struct recorder *const recorder = rows->recorder;
    for (uint32_t i = 0; i < rows->count; i++) {
        housekeeping_avoid(rows->rows[i].cpus[0]);
        housekeeping_avoid(rows->rows[i].cpus[1]);
    }
    int code = recorder_open_output(recorder);
    if (code == EXIT_MEASURED) {
        code = write_header(rows);
    }
    if (code == EXIT_MEASURED &&
        os_thread_create_ordinary(&recorder->sources[rows->count - 1].thread, &follower, kernel_rows_run, rows) != OS_OK) {
        code = refuse(EXIT_FAILED, "a thread can't be started.");
    }
    if (code != EXIT_MEASURED) {
        recorder_abandon(recorder);
        return code;
    }
    recorder_run(recorder);
    const int failure = atomic_load(&rows->failure);
    if (failure != OS_OK) {
        code = refuse(EXIT_FAILED, "the kernel half failed: %s.\nWhat was measured before is kept.",
                      os_status_text((enum os_status)failure));
    }
    const int closed = recorder_close(recorder);
    return code != EXIT_MEASURED ? code : closed;
}

static int measure(struct kernel_rows *rows)
{
    const struct stage_options *const stage = &rows->options->stage;
    const struct recording_options *const recording = &stage->conditions.recording;
    const int64_t ring_rows = recording_ring_rows(recording, stage->count, 0);
    if (ring_rows < 0) {
        return EXIT_USAGE;
    }
    kernel_rows_lay_out(rows);
    int code = kernel_rows_try(rows);
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct recorder recorder;
    const struct recorder_options options =
        recording_for_recorder(recording, ring_rows, stage->conditions.budget_obtained_ns, true);
    code = recorder_open(&recorder, &options, schemas[rows->options->measure], rows->count);
    if (code != EXIT_MEASURED) {
        return code;
    }
    rows->recorder = &recorder;
    for (uint32_t i = 0; i < rows->count; i++) {
        describe(rows, i);
    }
    if (rows->options->measure == KERNEL_RESPONSE && stage_options_lack_different(stage)) {
        recorder_add_absence(&recorder, "on two CPUs", "there is only one");
    }
    code = run(rows);
    rows->recorder = NULL;
    return code;
}

int experiment_kernel(int argc, char **argv)
{
    struct kernel_options options;
    int code = EXIT_MEASURED;
    if (!kernel_options_read(&options, argc, argv, &code)) {
        return code;
    }
    struct kernel_rows rows = {.options = &options};
    const struct os_answer answer = os_kernel_half_open(&rows.half);
    if (answer.availability != OS_PRESENT) {
        return refuse(answer.availability == OS_DENIED ? EXIT_NOT_PERMITTED : EXIT_FAILED,
                      "the kernel half can't be used here: %s.", answer.why);
    }
    code = conditions_prepare(&options.stage.conditions);
    if (code == EXIT_MEASURED) {
        code = measure(&rows);
    }
    os_kernel_half_close(rows.half);
    return code;
}
