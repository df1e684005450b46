/*
 * The components of the Rhealstone benchmark, which garre2014 took for its section 3.1 and Table 1 as well. All rows
 * have the measure duration_ns, from before_ns to after_ns; what lies between is said in rhealstone_tasks.h and, row by
 * row, in docs/rhealstone.md. The figure is the lab's work.
 *
 * Interrupt latency, the sixth component, is an experiment of its own.
 */
#include "experiment/experiment.h"
#include "experiment/rhealstone_tasks.h"

#include "message.h"

#include <string.h>

enum { ROWS_LIMIT = 9, TASKS_LIMIT = 3 };
static const char no_second_cpu[] = "they need a second CPU";

struct rhealstone_options {
    struct stage_options stage;
    int64_t message_bytes;
};

struct bench {
    struct rhealstone_options options;
    struct stages set;
    struct stage stages[ROWS_LIMIT];
    struct meeting rows[ROWS_LIMIT];
};

struct task {
    const char *role;
    void (*act)(struct stage *stage);
    int32_t below; /* priority levels */
};

/* What a row needs, and who takes part: the first task measures. */
struct component {
    const char *name;
    const char *what;
    const char *across; /* the row in words when it is on two CPUs; NULL: it can't be */
    struct task tasks[TASKS_LIMIT];
    uint8_t task_count;
    uint8_t stays; /* the task that is on the first CPU when the others are on the second */
    bool semaphore;
    uint8_t initial; /* of the semaphore */
    bool deadlock;
    bool message;
};

static const struct component components[] = {
    {.name = "task switch",
     .what = "yield to a task of equal priority",
     .tasks = {{"first", yield_first, 0}, {"second", yield_second, 0}},
     .task_count = 2},
    {.name = "preemption",
     .what = "a running low task makes a high one ready, which takes the CPU",
     .tasks = {{"high", preemption_high, 0}, {"low", preemption_low, 1}},
     .task_count = 2,
     .semaphore = true},
    {.name = "semaphore shuffle",
     .what = "a semaphore passes between equals: from its release to the other task having it",
     .across = "a semaphore passes to a task on another CPU: from its release to the other task having it",
     .tasks = {{"blocked", shuffle_blocked, 0}, {"owner", shuffle_owner, 0}},
     .task_count = 2,
     .stays = 1,
     .semaphore = true,
     .initial = 1},
    {.name = "deadlock breaking",
     .what = "high asks for what low holds while middle is ready: from the request to having it",
     .tasks = {{"high", deadlock_high, 0}, {"middle", deadlock_middle, 1}, {"low", deadlock_low, 2}},
     .task_count = 3,
     .deadlock = true},
    {.name = "message latency",
     .what = "a message is sent to a waiting high task: from the send to its copy being there",
     .across = "a message is sent to a task that waits on another CPU: from the send to its copy being there",
     .tasks = {{"receiver", message_receiver, 0}, {"sender", message_sender, 1}},
     .task_count = 2,
     .stays = 1,
     .message = true},
    {.name = "datagram",
     .what = "how long one message keeps its sender, the receiver having taken it",
     .across = "how long one message keeps its sender, the receiver on another CPU taking them as they come",
     .tasks = {{"sender", datagram_sender, 1}, {"receiver", datagram_receiver, 0}},
     .task_count = 2,
     .stays = 0,
     .message = true},
};
enum { COMPONENTS = sizeof components / sizeof components[0] };

static void free_row(struct meeting *row)
{
    pair_destroy(&row->pair);
    os_semaphore_destroy(row->semaphore);
    os_mutex_destroy(row->mutex);
    os_semaphore_destroy(row->wake_middle);
    os_semaphore_destroy(row->wake_high);
    os_message_queue_destroy(row->queue);
    os_memory_free(row->sent, row->message_bytes);
    os_memory_free(row->received, row->message_bytes);
    *row = (struct meeting){0};
}

/* A message of this size goes through, before anybody depends on it. */
static enum os_status try_message(const struct meeting *row)
{
    size_t bytes = 0;
    memset(row->sent, 0x5a, row->message_bytes);
    enum os_status status = os_message_queue_send(row->queue, row->sent, row->message_bytes);
    if (status == OS_OK) {
        status = os_message_queue_receive(row->queue, row->received, &bytes);
    }
    const bool same = bytes == row->message_bytes && memcmp(row->sent, row->received, bytes) == 0;
    return status == OS_OK && !same ? OS_FAILED : status;
}

static enum os_status make_message(struct meeting *row, size_t bytes)
{
    void *sent = NULL;
    void *received = NULL;
    row->message_bytes = bytes;
    enum os_status status = os_memory_allocate(&sent, bytes);
    row->sent = sent;
    if (status == OS_OK) {
        status = os_memory_allocate(&received, bytes);
        row->received = received;
    }
    if (status == OS_OK) {
        status = os_message_queue_create(&row->queue, MESSAGES_QUEUED, bytes);
    }
    return status == OS_OK ? try_message(row) : status;
}

static enum os_status make_deadlock(struct meeting *row)
{
    enum os_status status = os_mutex_create(&row->mutex, OS_MUTEX_INHERIT, 0);
    if (status == OS_OK) {
        status = os_semaphore_create(&row->wake_middle, 0);
    }
    return status == OS_OK ? os_semaphore_create(&row->wake_high, 0) : status;
}

static enum os_status make_row(struct meeting *row, const struct component *component, bool apart, size_t bytes)
{
    enum os_status status = pair_create(&row->pair, apart);
    if (status == OS_OK && component->semaphore) {
        status = os_semaphore_create(&row->semaphore, component->initial);
    }
    if (status == OS_OK && component->deadlock) {
        status = make_deadlock(row);
    }
    if (status == OS_OK && component->message) {
        status = make_message(row, bytes);
    }
    return status;
}

/* Returns an exit code: of what the component needs, only the size of the message is the user's choice. */
static int add_row(struct bench *bench, const struct component *component, bool apart)
{
    const struct stage_options *const options = &bench->options.stage;
    struct stage *const stage = &bench->stages[bench->set.count];
    struct meeting *const row = &bench->rows[bench->set.count];
    const enum os_status status = make_row(row, component, apart, (size_t)bench->options.message_bytes);
    if (status != OS_OK) {
        free_row(row);
        if (component->message) {
            return refuse(status == OS_NOT_PERMITTED ? EXIT_NOT_PERMITTED : EXIT_USAGE,
                          "--message-bytes %lld: a queue of %d such messages can't be had: %s.\n"
                          "Give fewer bytes, or see mq_overview(7) for its limits.",
                          (long long)bench->options.message_bytes, MESSAGES_QUEUED, os_status_text(status));
        }
        return refuse(EXIT_FAILED, "%s: its locks can't be made here: %s.", component->name, os_status_text(status));
    }
    *stage = (struct stage){
        .what = apart ? component->across : component->what, .actor_count = component->task_count, .context = row};
    for (uint32_t i = 0; i < component->task_count; i++) {
        const struct task *const task = &component->tasks[i];
        stage->actors[i] = (struct actor){
            .role = task->role,
            .below = task->below,
            .cpu = apart && i != component->stays ? options->far_cpu : options->near_cpu,
            .act = task->act,
        };
    }
    stage_name(stage, component->name, options->near_cpu, apart ? options->far_cpu : options->near_cpu);
    bench->set.count++;
    return EXIT_MEASURED;
}

/* NULL: the system has what the component needs. */
static const char *why_absent(const struct component *component)
{
    if (!component->deadlock && !component->message) {
        return NULL;
    }
    const struct os_answer answer =
        os_service_available(component->deadlock ? OS_SERVICE_MUTEX_INHERIT : OS_SERVICE_MESSAGE_QUEUE);
    return answer.availability == OS_PRESENT ? NULL : answer.why;
}

static int add_component(struct bench *bench, const struct component *component)
{
    const struct stage_options *const options = &bench->options.stage;
    const char *const why = why_absent(component);
    if (why != NULL) {
        stages_lack(&bench->set, component->name, why);
        return EXIT_MEASURED;
    }
    int code = EXIT_MEASURED;
    if (stage_options_want_same(options)) {
        code = add_row(bench, component, false);
    }
    if (code == EXIT_MEASURED && component->across != NULL && stage_options_want_different(options)) {
        code = add_row(bench, component, true);
    }
    return code;
}

static void parameters_to_json(struct json *json, const void *given)
{
    const struct rhealstone_options *const options = given;
    json_integer(json, "message_bytes", options->message_bytes);
    json_integer(json, "messages_queued", MESSAGES_QUEUED);
    json_integer(json, "apart_ns", PAIR_APART_NS);
}

static int measure(struct bench *bench)
{
    int code = EXIT_MEASURED;
    for (uint32_t i = 0; i < COMPONENTS && code == EXIT_MEASURED; i++) {
        code = add_component(bench, &components[i]);
    }
    stages_lack(&bench->set, "interrupt latency", "measured by the experiment 'interrupt'");
    if (stage_options_lack_different(&bench->options.stage)) {
        stages_lack(&bench->set, "rows across two CPUs", no_second_cpu);
    }
    return code == EXIT_MEASURED ? stages_measure(&bench->set) : code;
}

static bool read_options(struct rhealstone_options *options, int argc, char **argv, int *code)
{
    struct option table[] = {{"message-bytes", OPTION_COUNT, &options->message_bytes, NULL, "of one message", false},
                             STAGE_OPTIONS(&options->stage)};
    if (!stage_options_read(&options->stage, table, sizeof table / sizeof table[0], argc, argv,
                            "usage: tauto-probe rhealstone [options]\n\n"
                            "The times of the Rhealstone benchmark. (Kar and Porter 1989; Garre et al. 2014, 3.1)\n\n",
                            3, code)) {
        return false;
    }
    if (options->message_bytes < MESSAGE_BYTES_LEAST || options->message_bytes > MESSAGE_BYTES_MOST) {
        *code = refuse(EXIT_USAGE, "--message-bytes must lie between %d and %d.", MESSAGE_BYTES_LEAST,
                       MESSAGE_BYTES_MOST);
        return false;
    }
    return true;
}

int experiment_rhealstone(int argc, char **argv)
{
    struct bench bench = {.options = {.stage = stage_options_default(10000, 256), .message_bytes = 1024}};
    int code = EXIT_MEASURED;
    if (!read_options(&bench.options, argc, argv, &code)) {
        return code;
    }
    code = conditions_prepare(&bench.options.stage.conditions);
    if (code != EXIT_MEASURED) {
        return code;
    }
    bench.set = (struct stages){
        .experiment = "rhealstone",
        .schema = &pair_schema,
        .options = &bench.options.stage,
        .parameters = parameters_to_json,
        .given = &bench.options,
        .tell = pairs_tell,
        .stages = bench.stages,
    };
    code = measure(&bench);
    for (uint32_t i = 0; i < bench.set.count; i++) {
        free_row(&bench.rows[i]);
    }
    return code;
}
