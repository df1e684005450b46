#include "experiment/kernel_rows.h"

#include "message.h"

#include <inttypes.h>
#include <string.h>

enum { LOOK_NS = 100000000, LOOK_AGAIN_NS = 1000000, ROWS_AT_A_TIME = 512, USER_STACK_BYTES = 65536 };

void kernel_rows_lay_out(struct kernel_rows *rows)
{
    const struct kernel_options *const options = rows->options;
    const struct stage_options *const stage = &options->stage;
    const bool pairs = options->measure == KERNEL_RESPONSE;
    const int32_t far_cpus[] = {stage->near_cpu, stage->far_cpu};
    const bool wanted[] = {!pairs || stage_options_want_same(stage), pairs && stage_options_want_different(stage)};
    for (uint32_t m = 0; m < (pairs ? options->mechanism_count : 1); m++) {
        for (uint32_t p = 0; p < options->periods.count; p++) {
            for (int place = 0; place < 2; place++) {
                if (wanted[place]) {
                    rows->rows[rows->count++] = (struct kernel_table_row){
                        .mechanism = pairs ? options->mechanisms[m] : KERNEL_SEMAPHORE,
                        .period_ns = options->periods.ns[p],
                        .cpus = {stage->near_cpu, far_cpus[place]},
                    };
                }
            }
        }
    }
}

struct os_thread_attributes kernel_rows_requested(const struct kernel_rows *rows, const struct kernel_table_row *row,
                                                  int task)
{
    const struct kernel_options *const options = rows->options;
    const bool pairs = options->measure == KERNEL_RESPONSE;
    const int below = pairs && options->waiter == (task == 0 ? KERNEL_ABOVE : KERNEL_BELOW) ? 1 : 0;
    return (struct os_thread_attributes){
        .name = "tauto-actor",
        .policy = OS_POLICY_FIFO,
        .below_highest = options->stage.below_highest + below,
        .cpu = row->cpus[task],
        .stack_bytes = USER_STACK_BYTES,
    };
}

static enum os_status set_up(struct kernel_rows *rows, struct kernel_table_row *row)
{
    const struct kernel_options *const options = rows->options;
    struct kernel_setup setup = {
        .measure = (enum kernel_measure)options->measure,
        .mechanism = row->mechanism,
        .soft = options->soft,
        .period_ns = row->period_ns,
        .count = options->exchanges,
        .warmup = options->stage.warmup,
        .rows = options->exchanges < KERNEL_ROWS_LIMIT ? options->exchanges : KERNEL_ROWS_LIMIT,
    };
    for (int i = 0; i < 2; i++) {
        const struct os_thread_attributes task = kernel_rows_requested(rows, row, i);
        setup.tasks[i] = (struct kernel_task){.cpu = task.cpu, .below_highest = task.below_highest};
    }
    struct os_thread_obtained obtained[2] = {0};
    const enum os_status status = os_kernel_half_set_up(rows->half, &setup, obtained);
    row->obtained[0] = obtained[0];
    if (row->mechanism != KERNEL_USER) {
        row->obtained[1] = obtained[1];
    }
    return status;
}

/* ---- The second task of mechanism user ---- */

struct user_task {
    struct kernel_rows *rows;
    struct kernel_table_row *row;
    struct os_thread *thread;
    enum os_status status;
};

static void read_back(void *argument)
{
    struct user_task *const task = argument;
    os_thread_read_back(&task->row->obtained[1]);
}

static void answer(void *argument)
{
    struct user_task *const task = argument;
    struct os_kernel_half *const half = task->rows->half;
    do {
        task->status = os_kernel_half_receive(half);
        const int64_t received_ns = os_now_ns();
        if (task->status == OS_OK) {
            task->status = os_kernel_half_answer(half, received_ns);
        }
    } while (task->status == OS_OK || task->status == OS_INTERRUPTED);
}

static enum os_status start_user_task(struct user_task *task, os_thread_entry entry)
{
    if (task->row->mechanism != KERNEL_USER) {
        return OS_OK;
    }
    const struct os_thread_attributes attributes = kernel_rows_requested(task->rows, task->row, 1);
    return os_thread_create(&task->thread, &attributes, entry, task);
}

static void end_user_task(struct user_task *task)
{
    if (task->thread != NULL) {
        os_thread_join(task->thread);
    }
}

/* ---- Before the run ---- */

static int refuse_row(const struct kernel_rows *rows, const struct kernel_table_row *row, enum os_status status)
{
    switch (status) {
    case OS_UNSUPPORTED:
        return refuse(EXIT_FAILED, "the kernel half that is loaded is of another version than this probe.\nBuild it "
                                   "anew with make -C kmod, unload the old one (rmmod tautochrone), load the new one.");
    case OS_INVALID:
        return refuse(EXIT_USAGE, "the kernel half does not take these values for CPU %" PRId32 ".\nIs it online?",
                      row->cpus[0]);
    case OS_NOT_PERMITTED:
        return refuse(EXIT_NOT_PERMITTED, "policy fifo with priority %" PRId64 " is not permitted to this user.\n%s",
                      rows->options->stage.priority, os_advice_for_policy());
    default:
        return refuse(EXIT_FAILED, "the kernel half can't be set up: %s.", os_status_text(status));
    }
}

int kernel_rows_try(struct kernel_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        struct user_task task = {.rows = rows, .row = &rows->rows[i]};
        enum os_status status = set_up(rows, task.row);
        if (status == OS_OK) {
            status = start_user_task(&task, read_back);
            end_user_task(&task);
        }
        if (status != OS_OK) {
            return refuse_row(rows, task.row, status);
        }
    }
    return EXIT_MEASURED;
}

/* ---- The run ---- */

static void keep(const struct kernel_rows *rows, struct source *source, const struct kernel_row *row,
                 int64_t repetition)
{
    int64_t *const slot = ring_slot(&source->ring);
    if (slot == NULL) {
        return; /* counted as dropped */
    }
    if (rows->options->measure == KERNEL_RESPONSE) {
        enum { BEFORE_REPETITION = 4 };
        memcpy(slot, row->instants, BEFORE_REPETITION * sizeof *slot);
        slot[BEFORE_REPETITION] = repetition;
        slot[BEFORE_REPETITION + 1] = row->instants[BEFORE_REPETITION];
    } else {
        memcpy(slot, row->instants, KERNEL_PERIOD_INSTANTS * sizeof *slot);
    }
    ring_commit(&source->ring);
}

static enum os_status fetch(const struct kernel_rows *rows, struct source *source, int64_t repetition,
                            uint64_t *fetched)
{
    struct kernel_row taken[ROWS_AT_A_TIME];
    size_t count = 0;
    enum os_status status = OS_OK;
    do {
        status = os_kernel_half_read(rows->half, taken, ROWS_AT_A_TIME, &count);
        for (size_t i = 0; i < count; i++) {
            keep(rows, source, &taken[i], repetition);
        }
        *fetched += count;
    } while (status == OS_OK && count == ROWS_AT_A_TIME);
    return status;
}

static void book(struct source *source, const struct kernel_books *books)
{
    struct counters *const counters = &source->counters;
    counters->released += books->released;
    counters->completed += books->completed;
    counters->overruns += books->overruns;
    counters->warmup += books->warmup;
    counters->cpu_time_ns += books->cpu_time_ns;
    counter_add(&counters->missed, books->missed);
    counter_add(&source->ring.dropped, books->dropped);
}

/* Looks now and then, and, when the end is near, often: the kernel half wakes nobody. */
static enum os_status follow(const struct kernel_rows *rows, struct source *source, const struct kernel_table_row *row,
                             int64_t repetition)
{
    const int64_t releases = rows->options->exchanges + rows->options->stage.warmup + 1;
    const int64_t end_ns = os_now_ns() + releases * row->period_ns;
    struct kernel_books books = {0};
    uint64_t fetched = 0;
    enum os_status status = OS_OK;
    while (status == OS_OK && !books.ended) {
        const int64_t now_ns = os_now_ns();
        const int64_t left_ns = end_ns > now_ns + LOOK_AGAIN_NS ? end_ns - now_ns : LOOK_AGAIN_NS;
        os_sleep_until(now_ns + (left_ns < LOOK_NS ? left_ns : LOOK_NS));
        if (recorder_stopping(rows->recorder)) {
            status = os_kernel_half_stop(rows->half);
        }
        if (status == OS_OK) {
            status = os_kernel_half_books(rows->half, &books); /* before the rows: none comes after the end */
        }
        if (status == OS_OK) {
            status = fetch(rows, source, repetition, &fetched);
        }
    }
    if (status == OS_OK && fetched != books.recorded) {
        status = OS_FAILED;
    }
    book(source, &books);
    return status;
}

static enum os_status repeat_once(struct kernel_rows *rows, uint32_t index, int64_t repetition)
{
    struct user_task task = {.rows = rows, .row = &rows->rows[index]};
    enum os_status status = set_up(rows, task.row);
    if (status == OS_OK) {
        status = start_user_task(&task, answer);
    }
    if (status == OS_OK) {
        status = os_kernel_half_start(rows->half);
    }
    if (status == OS_OK) {
        status = follow(rows, &rows->recorder->sources[index], task.row, repetition);
    }
    (void)os_kernel_half_stop(rows->half); /* whoever still waits goes on */
    end_user_task(&task);
    return status == OS_OK && task.status != OS_CLOSED ? task.status : status; /* closed is how it ends */
}

void kernel_rows_run(void *argument)
{
    struct kernel_rows *const rows = argument;
    struct recorder *const recorder = rows->recorder;
    for (uint32_t i = 0; i < rows->count; i++) {
        for (int64_t k = 0; k < rows->options->repetitions && !recorder_stopping(recorder); k++) {
            const enum os_status status = repeat_once(rows, i, k);
            if (status != OS_OK) {
                atomic_store(&rows->failure, (int)status);
                recorder_fail(recorder, os_status_text(status));
            }
        }
        source_finish(&recorder->sources[i]);
    }
}
