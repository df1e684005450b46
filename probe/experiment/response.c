/*
 * Response time of each way in which one task wakes or tells another, as koh2013 3.2 to 3.4 and 4 measures it.
 *
 * Task 1 is periodic (or goes on at once). At each release it reads the clock (`before_ns`), sends, reads the clock
 * again (`after_ns`) and waits for the answer. Task 2 waits for what is sent, reads the clock first thing
 * (`received_ns`), and answers through a second channel of the same kind. Task 1 reads the clock when it has the answer
 * (`answered_ns`). What task 2 read is handed over in memory, not through the channel.
 *
 * The paper starts its time after the send (its Figures 5, 7 and 9): for a semaphore it goes to the receiver, for FIFO
 * and message queue to the answer. pmqtest, ptsematest and sigwaittest of rt-tests start before the send and end at the
 * receiver.
 *
 * A row for each mechanism and placement. Each repetition makes its channels anew: where the system puts them is what
 * can differ from one run of a program to the next.
 */
#include "experiment/experiment.h"
#include "experiment/response_tasks.h"
#include "experiment/schemas.h"

#include "message.h"

#include <inttypes.h>

enum { STAGES_LIMIT = 2 * RESPONSE_KINDS_LIMIT };

static const struct column columns[RESPONSE_COLUMNS] = {
    [BEFORE] = {"before_ns", "task 1, just before it sends", NULL},
    [AFTER] = {"after_ns", "task 1, just after the send returned", NULL},
    [RECEIVED] = {"received_ns", "task 2, first thing after its receive returned", NULL},
    [ANSWERED] = {"answered_ns", "task 1, first thing after it received the answer", NULL},
    [REPETITION] = {"repetition", "which repetition, from 0; each has channels of its own", "1"},
    [SCHEDULED] = {"scheduled_ns", "programmed release of task 1, start + k * period", NULL},
};
static const struct measure measures[] = {
    {"one_way_ns", "from before the send to the receiver", BEFORE, RECEIVED},
    {"round_trip_ns", "from before the send to the answer", BEFORE, ANSWERED},
    {"koh_semaphore_ns", "from after the send to the receiver (koh2013, 3.2)", AFTER, RECEIVED},
    {"koh_round_trip_ns", "from after the send to the answer (koh2013, 3.3 and 3.4)", AFTER, ANSWERED},
};
enum { MEASURES = sizeof measures / sizeof measures[0] };
const struct schema response_schema = {
    .columns = columns,
    .column_count = RESPONSE_COLUMNS,
    .measures = measures,
    .measure_count = MEASURES,
};
static const struct schema back_to_back_schema = {
    .columns = columns,
    .column_count = SCHEDULED,
    .measures = measures,
    .measure_count = MEASURES,
};

struct rows {
    const struct response_options *options;
    struct exchange exchanges[STAGES_LIMIT];
    struct stage stages[STAGES_LIMIT];
    uint32_t count;
};

static void parameters_to_json(struct json *json, const void *given)
{
    const struct rows *const rows = given;
    response_options_to_json(json, rows->options);
    json_open_array(json, "rows"); /* as the sources: which is which, for readers */
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct stage *const stage = &rows->stages[i];
        json_open_object(json, NULL);
        json_text(json, "mechanism", rows->exchanges[i].kind->name);
        json_text(json, "place", stage->actors[0].cpu == stage->actors[1].cpu ? "same" : "different");
        json_close_object(json);
    }
    json_close_array(json);
}

static bool add_row(struct rows *rows, const struct os_channel_kind *kind, int32_t far_cpu)
{
    const struct response_options *const options = rows->options;
    const int32_t near_cpu = options->stage.near_cpu;
    struct exchange *const exchange = &rows->exchanges[rows->count];
    struct stage *const stage = &rows->stages[rows->count];
    rows->count++;
    exchange->options = options;
    exchange->kind = kind;
    stage->what = kind->what;
    stage->period_ns = options->period_ns;
    stage->context = exchange;
    stage->actors[0] = (struct actor){
        .role = "task 1", .cpu = near_cpu, .below = options->waiter == WAITER_ABOVE ? 1 : 0, .act = response_task_1};
    stage->actors[1] = (struct actor){
        .role = "task 2", .cpu = far_cpu, .below = options->waiter == WAITER_BELOW ? 1 : 0, .act = response_task_2};
    stage->actor_count = 2;
    stage_name(stage, kind->name, near_cpu, far_cpu);
    return os_semaphore_create(&exchange->renewed, 0) == OS_OK && os_semaphore_create(&exchange->bound, 0) == OS_OK &&
           os_semaphore_create(&exchange->left, 0) == OS_OK;
}

/* What can't be made here is a row of its own, with the reason. */
static bool is_there(struct stages *set, const struct os_channel_kind *kind, size_t bytes)
{
    struct os_channel *channel = NULL;
    const char *why = "";
    if (os_channel_create(&channel, kind, bytes, &why) != OS_OK) {
        stages_lack(set, kind->name, why);
        return false;
    }
    os_channel_destroy(channel);
    return true;
}

static bool lay_out(struct rows *rows, struct stages *set)
{
    const struct response_options *const options = rows->options;
    const struct stage_options *const stage = &options->stage;
    bool made = true;
    for (uint32_t i = 0; i < options->kind_count && made; i++) {
        const struct os_channel_kind *const kind = options->kinds[i];
        if (!is_there(set, kind, (size_t)options->bytes)) {
            continue;
        }
        if (stage_options_want_same(stage)) {
            made = made && add_row(rows, kind, stage->near_cpu);
        }
        if (stage_options_want_different(stage)) {
            made = made && add_row(rows, kind, stage->far_cpu);
        }
    }
    for (uint32_t i = 0; i < options->lacking_count; i++) {
        stages_lack(set, options->lacking[i], "this system has no such mechanism");
    }
    if (stage_options_lack_different(stage)) {
        stages_lack(set, "on two CPUs", "there is only one");
    }
    set->count = rows->count;
    return made;
}

static void tell_losses(const struct rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->exchanges[i].lost != 0) {
            warn("%s: messages that got no answer within a second: %" PRIu64 ". %s.", rows->stages[i].name,
                 rows->exchanges[i].lost,
                 rows->options->period_ns != 0 ? "They count as missed" : "They are not among the samples");
        }
    }
}

static void free_rows(struct rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        os_semaphore_destroy(rows->exchanges[i].renewed);
        os_semaphore_destroy(rows->exchanges[i].bound);
        os_semaphore_destroy(rows->exchanges[i].left);
    }
}

static int measure(const struct response_options *options)
{
    struct rows rows = {.options = options};
    struct stages set = {
        .experiment = "response",
        .schema = options->period_ns != 0 ? &response_schema : &back_to_back_schema,
        .options = &options->stage,
        .periodic = options->period_ns != 0,
        .parameters = parameters_to_json,
        .given = &rows,
        .stages = rows.stages,
    };
    int code = EXIT_FAILED;
    if (!lay_out(&rows, &set)) {
        refuse(EXIT_FAILED, "semaphores can't be made here.");
    } else if (rows.count == 0) {
        refuse(EXIT_FAILED, "none of --mechanisms %s is available here: %s.", options->mechanisms_text,
               set.absent[0].why);
    } else {
        code = stages_measure(&set);
        tell_losses(&rows);
    }
    free_rows(&rows);
    return code;
}

int experiment_response(int argc, char **argv)
{
    struct response_options options;
    int code = EXIT_MEASURED;
    if (!response_options_read(&options, argc, argv, &code)) {
        return code;
    }
    code = conditions_prepare(&options.stage.conditions);
    return code == EXIT_MEASURED ? measure(&options) : code;
}
