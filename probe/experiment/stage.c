#include "experiment/stage.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>
#include <string.h>

enum { ACTOR_STACK_BYTES = 65536, START_WAIT_S = 10 };
static const int64_t ns_per_s = 1000000000;

void stages_lack(struct stages *set, const char *name, const char *why)
{
    if (set->absent_count < ABSENCES_LIMIT) {
        set->absent[set->absent_count++] = (struct absence){name, why};
    }
}

void stage_name(struct stage *stage, const char *name, int32_t from_cpu, int32_t to_cpu)
{
    if (from_cpu == to_cpu) {
        format_text(stage->name, sizeof stage->name, "%s, cpu%" PRId32, name, from_cpu);
    } else {
        format_text(stage->name, sizeof stage->name, "%s, cpu%" PRId32 " to cpu%" PRId32, name, from_cpu, to_cpu);
    }
}

void stage_fail(struct stage *stage, enum os_status status)
{
    int none = OS_OK;
    atomic_compare_exchange_strong(&stage->failure, &none, (int)status);
    recorder_fail(stage->set->recorder, os_status_text(status));
}

/* Decides once for all its actors whether the stage still has its turn. */
static void let_go(struct stage *stage)
{
    atomic_store(&stage->skipped, stage_stopping(stage));
    for (uint32_t i = 0; i < stage->actor_count && stage->go != NULL; i++) {
        os_semaphore_post(stage->go);
    }
}

static void end_stage(struct stage *stage)
{
    for (uint32_t i = 1; i < stage->actor_count; i++) {
        os_semaphore_wait(stage->done);
    }
    struct stages *const set = stage->set;
    struct stage *const next = stage + 1 < set->stages + set->count ? stage + 1 : NULL;
    source_finish(stage->source);
    if (next != NULL) {
        let_go(next);
    }
}

static void run_actor(void *argument)
{
    struct actor *const actor = argument;
    struct stage *const stage = actor->stage;
    const bool measures = actor == &stage->actors[0];
    os_thread_read_back(&actor->obtained);
    os_notice_post(stage->set->ready);
    os_semaphore_wait(stage->go);
    const int64_t cpu_time_before_ns = source_join(stage->source);
    if (!atomic_load(&stage->skipped)) {
        actor->act(stage);
    }
    if (measures) {
        stage->source->counters.cpu_time_ns = source_cpu_time_since(cpu_time_before_ns);
        end_stage(stage);
    } else {
        os_semaphore_post(stage->done);
    }
}

static struct os_thread_attributes attributes_of(const struct stage_options *options, const struct actor *actor)
{
    return (struct os_thread_attributes){
        .name = "tauto-actor",
        .policy = (enum os_policy)options->policy,
        .below_highest = options->below_highest + actor->below,
        .cpu = actor->cpu,
        .stack_bytes = ACTOR_STACK_BYTES,
    };
}

/* Where threads of different urgency meet, a policy without priorities will not do. */
static bool has_one_priority(const struct stages *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        for (uint32_t a = 0; a < set->stages[i].actor_count; a++) {
            if (set->stages[i].actors[a].below != 0) {
                return false;
            }
        }
    }
    return true;
}

static int refuse_actor(const struct stages *set, const struct actor *actor, enum os_status status)
{
    const struct stage_options *const options = set->options;
    const enum os_policy policy = (enum os_policy)options->policy;
    switch (status) {
    case OS_NOT_PERMITTED:
        return refuse(EXIT_NOT_PERMITTED, "policy %s with priority %" PRId64 " is not permitted to this user.\n%s %s",
                      os_policy_name(policy),
                      os_priority_to_native(policy, options->below_highest + actor->below), os_advice_for_policy(),
                      has_one_priority(set) ? advice_for_ordinary_policy : "");
    case OS_INVALID:
        return refuse(EXIT_USAGE, "the system does not take policy %s on CPU %" PRId32 ".\nChoose others.",
                      os_policy_name(policy), actor->cpu);
    case OS_TIMED_OUT:
        return refuse(EXIT_FAILED, "a measuring thread did not come to run within %d s: CPU %" PRId32 " is kept busy by "
                                   "threads of higher priority.",
                      START_WAIT_S, actor->cpu);
    default:
        return refuse(EXIT_FAILED, "a measuring thread can't be started: %s.", os_status_text(status));
    }
}

static int start_actors(struct stages *set, struct stage *stage)
{
    for (uint32_t i = 0; i < stage->actor_count; i++) {
        struct actor *const actor = &stage->actors[i];
        actor->stage = stage;
        const struct os_thread_attributes attributes = attributes_of(set->options, actor);
        enum os_status status = os_thread_create(&actor->thread, &attributes, run_actor, actor);
        if (status == OS_OK) {
            status = os_notice_wait_for(set->ready, START_WAIT_S * ns_per_s);
        }
        if (status != OS_OK) {
            return refuse_actor(set, actor, status);
        }
    }
    return EXIT_MEASURED;
}

static int start_stages(struct stages *set)
{
    if (os_notice_create(&set->ready) != OS_OK) {
        return refuse(EXIT_FAILED, "semaphores can't be made here.");
    }
    for (uint32_t i = 0; i < set->count; i++) {
        struct stage *const stage = &set->stages[i];
        if (os_semaphore_create(&stage->go, 0) != OS_OK || os_semaphore_create(&stage->done, 0) != OS_OK) {
            return refuse(EXIT_FAILED, "semaphores can't be made here.");
        }
        const int code = start_actors(set, stage);
        stage->source->thread = stage->actors[0].thread;
        if (code != EXIT_MEASURED) {
            return code;
        }
    }
    return EXIT_MEASURED;
}

/* Nothing was measured: whoever waits leaves at once. */
static void dismiss(struct stages *set)
{
    atomic_store(&set->recorder->stop, true);
    for (uint32_t i = 0; i < set->count; i++) {
        struct stage *const stage = &set->stages[i];
        atomic_store(&stage->skipped, true);
        /* They are started in order. Who was not started can't say that it is done: that is said in its place. */
        for (uint32_t a = 0; a < stage->actor_count && stage->actors[0].thread != NULL; a++) {
            os_semaphore_post(stage->actors[a].thread != NULL ? stage->go : stage->done);
        }
        if (stage->source->thread == NULL) {
            source_finish(stage->source);
        }
    }
}

static void free_stages(struct stages *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        struct stage *const stage = &set->stages[i];
        for (uint32_t a = 1; a < stage->actor_count; a++) { /* the first is the source's, and joined */
            if (stage->actors[a].thread != NULL) {
                os_thread_join(stage->actors[a].thread);
            }
        }
        os_semaphore_destroy(stage->go);
        os_semaphore_destroy(stage->done);
    }
    os_notice_destroy(set->ready);
}

static void actor_to_json(struct json *json, const struct stages *set, const struct actor *actor)
{
    const struct os_thread_attributes attributes = attributes_of(set->options, actor);
    requested_to_json(json, &attributes);
    obtained_to_json(json, attributes.policy, &actor->obtained);
}

/* The measuring actor's settings stand where those of every source stand, its partners' beside them. */
static void stage_to_json(struct json *json, const struct stages *set, uint32_t index)
{
    const struct stage *const stage = &set->stages[index];
    json_open_object(json, NULL);
    recorder_source_to_json(set->recorder, json, index);
    if (stage->period_ns != 0) {
        json_integer(json, "period_ns", stage->period_ns);
    }
    json_text(json, "role", stage->actors[0].role);
    actor_to_json(json, set, &stage->actors[0]);
    json_open_array(json, "partners");
    for (uint32_t i = 1; i < stage->actor_count; i++) {
        json_open_object(json, NULL);
        json_text(json, "role", stage->actors[i].role);
        actor_to_json(json, set, &stage->actors[i]);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static int write_header(const struct stages *set)
{
    struct json json;
    recorder_header_begin(set->recorder, &json, set->experiment);
    json_open_object(&json, "parameters");
    if (set->parameters != NULL) {
        set->parameters(&json, set->given);
    }
    stage_options_to_json(&json, set->options, (int64_t)set->recorder->options.ring_rows);
    json_close_object(&json);
    json_open_array(&json, "sources");
    for (uint32_t i = 0; i < set->count; i++) {
        stage_to_json(&json, set, i);
    }
    json_close_array(&json);
    conditions_to_json(&json, &set->options->conditions);
    return recorder_header_end(set->recorder, &json);
}

static int tell_failures(const struct stages *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const int failure = atomic_load(&set->stages[i].failure);
        if (failure != OS_OK) {
            return refuse(EXIT_FAILED, "%s: a call between its threads failed: %s.\nWhat was measured before is kept.",
                          set->stages[i].name, os_status_text((enum os_status)failure));
        }
    }
    return EXIT_MEASURED;
}

static int run_stages(struct stages *set)
{
    int code = start_stages(set);
    if (code == EXIT_MEASURED) {
        code = recorder_open_output(set->recorder);
    }
    if (code == EXIT_MEASURED) {
        code = write_header(set);
    }
    if (code == EXIT_MEASURED) {
        let_go(&set->stages[0]);
    } else {
        dismiss(set);
    }
    recorder_run(set->recorder);
    free_stages(set);
    return code;
}

static void describe_sources(struct stages *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        struct stage *const stage = &set->stages[i];
        stage->set = set;
        stage->source = &set->recorder->sources[i];
        stage->source->what = stage->what;
        memcpy(stage->source->name, stage->name, sizeof stage->name);
    }
    for (uint32_t i = 0; i < set->absent_count; i++) {
        recorder_add_absence(set->recorder, set->absent[i].name, set->absent[i].why);
    }
}

static struct os_thread_attributes thread_of(const void *context, uint32_t source)
{
    const struct stages *const set = context;
    return attributes_of(set->options, &set->stages[source].actors[0]);
}

/* The shortest there is; 0 where a stage has none. */
static int64_t period_of(const struct stages *set)
{
    int64_t shortest_ns = set->stages[0].period_ns;
    for (uint32_t i = 1; i < set->count; i++) {
        shortest_ns = set->stages[i].period_ns < shortest_ns ? set->stages[i].period_ns : shortest_ns;
    }
    return shortest_ns;
}

int stages_measure(struct stages *set)
{
    const struct stage_options *const options = set->options;
    const struct conditions *const conditions = &options->conditions;
    const int64_t ring_rows = recording_ring_rows(&conditions->recording, options->count, period_of(set));
    if (ring_rows < 0) {
        return EXIT_USAGE;
    }
    struct recorder recorder;
    struct recorder_options recorder_options =
        recording_for_recorder(&conditions->recording, ring_rows, conditions->budget_obtained_ns, set->periodic);
    recorder_options.thread_of = thread_of;
    recorder_options.context = set;
    int code = recorder_open(&recorder, &recorder_options, set->schema, set->count);
    if (code != EXIT_MEASURED) {
        return code;
    }
    set->recorder = &recorder;
    recorder.own_books = set->own_books;
    recorder.own_given = set->given;
    describe_sources(set);
    code = run_stages(set);
    if (code == EXIT_MEASURED) {
        if (set->tell != NULL) {
            set->tell(set);
        }
        code = tell_failures(set);
        const int closed = recorder_close(&recorder);
        code = code != EXIT_MEASURED ? code : closed;
    } else {
        recorder_abandon(&recorder);
    }
    set->recorder = NULL;
    return code;
}
