/*
 * Priority inversion: garre2014 3.2, the scenario of its Figure 2, once for each thing that people use as a lock.
 *
 * Three threads: high, middle, low, one priority below the other, on one CPU. Low takes the lock, makes high ready, then
 * middle, and goes on with its critical section. High wants the lock as soon as it runs. Middle works for a bounded
 * time and never blocks. All is in the order that their priorities give, none of it depends on time:
 *
 *   lock without remedy   low takes it, high runs, asks, waits; low goes on, middle stops it, works to its end; low goes
 *                         on and releases; high has it. The wait holds all of middle's work: the inversion.
 *   inheritance           the same up to high's wait; now low counts as high, and middle can't stop it.
 *   ceiling               low counts as high from the moment it has the lock: high can't even run before the release.
 *   spin lock             high runs, asks, and spins on the CPU that low needs: it would never end, so it gives up.
 *
 * `blocking_ns` is high's whole delay: from the instant at which low makes it ready (so that a ceiling's delay counts,
 * which comes before the request) to the first reading after it has the lock. The other instants of the row tell the
 * story; whether it was an inversion is read from their order, not from a length.
 *
 * Each repetition ends by itself and is followed by a pause of its own length.
 */
#include "experiment/experiment.h"
#include "experiment/inversion_locks.h"
#include "experiment/stage.h"

#include "message.h"

#include <inttypes.h>

enum { PRIORITIES = 3, PLACES = 2, SCENES_LIMIT = LOCK_KINDS * PLACES };
static const int64_t ns_per_ms = 1000000;

static const struct column columns[] = {
    {"taken_ns", "low has the lock", NULL},
    {"ready_ns", "low is about to make high ready, whose first act is to ask for the lock", NULL},
    {"requested_ns", "high is about to ask for the lock", NULL},
    {"middle_began_ns", "middle runs", NULL},
    {"middle_ended_ns", "middle has done its work", NULL},
    {"released_ns", "low is about to release the lock", NULL},
    {"obtained_ns", "high has the lock, or gave up", NULL},
    {"gave_up", "1: high gave up, the lock never came within --patience", "1"},
};
static const struct measure blocking = {"blocking_ns", "time from when high is ready until it has the lock", 1, 6};
static const struct schema inversion_schema = {
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .measures = &blocking,
    .measure_count = 1,
};

struct inversion_options {
    struct stage_options stage;
    int64_t critical_ns;
    int64_t middle_ns;
    int64_t patience_ns;
};

/* What the three share. Each writes its own instants, before it posts what high waits for. */
struct scene {
    const struct lock_kind *kind;
    struct lock lock;
    int64_t critical_ns;
    int64_t middle_ns;
    struct os_semaphore *low_goes;
    struct os_semaphore *high_ready;
    struct os_semaphore *middle_ready;
    struct os_semaphore *ended; /* by low, and by middle */
    bool over;
    uint64_t gave_up; /* of the recorded repetitions */

    int64_t taken_ns;
    int64_t ready_ns;
    int64_t released_ns;
    int64_t middle_began_ns;
    int64_t middle_ended_ns;
};

/* CPU time, not time: it does not pass while another thread has the CPU. */
static void work_until(int64_t cpu_time_ns)
{
    while (os_thread_cpu_time_ns() < cpu_time_ns) {
    }
}

static void act_low(struct stage *stage)
{
    struct scene *const scene = stage->context;
    for (;;) {
        os_semaphore_wait(scene->low_goes);
        if (scene->over) {
            return;
        }
        const enum os_status held = scene->kind->hold(&scene->lock);
        scene->taken_ns = os_now_ns();
        const int64_t until_cpu_ns = os_thread_cpu_time_ns() + scene->critical_ns;
        scene->ready_ns = os_now_ns();
        os_semaphore_post(scene->high_ready);
        os_semaphore_post(scene->middle_ready);
        work_until(until_cpu_ns);
        scene->released_ns = os_now_ns();
        const enum os_status released = held == OS_OK ? scene->kind->release(&scene->lock) : held;
        if (released != OS_OK) {
            stage_fail(stage, released);
        }
        os_semaphore_post(scene->ended);
    }
}

static void act_middle(struct stage *stage)
{
    struct scene *const scene = stage->context;
    for (;;) {
        os_semaphore_wait(scene->middle_ready);
        if (scene->over) {
            return;
        }
        scene->middle_began_ns = os_now_ns();
        work_until(os_thread_cpu_time_ns() + scene->middle_ns);
        scene->middle_ended_ns = os_now_ns();
        os_semaphore_post(scene->ended);
    }
}

static void repeat_once(struct stage *stage, int64_t k)
{
    struct scene *const scene = stage->context;
    os_semaphore_post(scene->low_goes);
    os_semaphore_wait(scene->high_ready);
    const int64_t requested_ns = os_now_ns();
    const enum os_status got = scene->kind->acquire(&scene->lock);
    const int64_t obtained_ns = os_now_ns();

    const enum os_status released = got == OS_OK ? scene->kind->release(&scene->lock) : OS_OK;
    os_semaphore_wait(scene->ended);
    os_semaphore_wait(scene->ended);
    if (released != OS_OK || (got != OS_OK && got != OS_TIMED_OUT)) {
        stage_fail(stage, released != OS_OK ? released : got);
    }
    if (atomic_load(&stage->failure) != OS_OK) { /* low's too: such a repetition tells nothing */
        return;
    }
    const int64_t row[] = {scene->taken_ns,         scene->ready_ns,    requested_ns, scene->middle_began_ns,
                           scene->middle_ended_ns,  scene->released_ns, obtained_ns,  got == OS_TIMED_OUT};
    stage_record(stage, k, row);
    scene->gave_up += k >= 0 && got == OS_TIMED_OUT;
}

static void act_high(struct stage *stage)
{
    struct scene *const scene = stage->context;
    const struct stage_options *const options = stage->set->options;
    for (int64_t k = -options->warmup; k < options->count && !stage_stopping(stage); k++) {
        const int64_t began_ns = os_now_ns();
        repeat_once(stage, k);
        const int64_t ended_ns = os_now_ns();
        os_sleep_until_and_read(ended_ns + (ended_ns - began_ns)); /* as long again for everybody else on this CPU */
    }
    scene->over = true;
    os_semaphore_post(scene->low_goes);
    os_semaphore_post(scene->middle_ready);
}

static enum os_status prepare_scene(struct scene *scene, const struct lock_kind *kind,
                                    const struct inversion_options *options)
{
    *scene = (struct scene){
        .kind = kind,
        .lock = {.ceiling_below_highest = options->stage.below_highest, .patience_ns = options->patience_ns},
        .critical_ns = options->critical_ns,
        .middle_ns = options->middle_ns,
    };
    struct os_semaphore **const semaphores[] = {&scene->low_goes, &scene->high_ready, &scene->middle_ready,
                                                &scene->ended};
    enum os_status status = kind->create(&scene->lock);
    for (size_t i = 0; i < sizeof semaphores / sizeof semaphores[0] && status == OS_OK; i++) {
        status = os_semaphore_create(semaphores[i], 0);
    }
    return status;
}

static void free_scenes(struct scene *scenes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        lock_destroy(&scenes[i].lock);
        os_semaphore_destroy(scenes[i].low_goes);
        os_semaphore_destroy(scenes[i].high_ready);
        os_semaphore_destroy(scenes[i].middle_ready);
        os_semaphore_destroy(scenes[i].ended);
    }
}

/* High alone may be on another CPU; low and middle always compete for one. */
static struct stage stage_of(struct scene *scene, int32_t high_cpu, int32_t cpu)
{
    struct stage stage = {
        .what = scene->kind->what,
        .actors = {{.role = "high", .cpu = high_cpu, .act = act_high},
                   {.role = "middle", .below = 1, .cpu = cpu, .act = act_middle},
                   {.role = "low", .below = 2, .cpu = cpu, .act = act_low}},
        .actor_count = 3,
        .context = scene,
    };
    stage_name(&stage, scene->kind->name, cpu, high_cpu);
    return stage;
}

/* A row for each lock that exists here, on one CPU, on two, or both; the others are absent. Returns an exit code. */
static int lay_out(struct stages *set, struct scene *scenes, const struct inversion_options *options)
{
    const struct stage_options *const stage = &options->stage;
    const int32_t high_cpus[PLACES] = {stage->near_cpu, stage->far_cpu};
    const bool wanted[PLACES] = {stage_options_want_same(stage), stage_options_want_different(stage)};
    if (stage_options_lack_different(stage)) {
        stages_lack(set, "high on another CPU", "there is one CPU");
    }
    for (const struct lock_kind *kind = lock_kinds; kind < lock_kinds + LOCK_KINDS; kind++) {
        const struct os_answer answer = os_service_available(kind->service);
        if (answer.availability != OS_PRESENT) {
            stages_lack(set, kind->name, answer.why);
            continue;
        }
        for (int place = 0; place < PLACES; place++) {
            if (!wanted[place]) {
                continue;
            }
            struct scene *const scene = &scenes[set->count];
            set->stages[set->count++] = (struct stage){0}; /* counted before anything is made, to be freed */
            const enum os_status status = prepare_scene(scene, kind, options);
            if (status != OS_OK) {
                return refuse(EXIT_FAILED, "%s: can't be made here: %s.", kind->name, os_status_text(status));
            }
            set->stages[set->count - 1] = stage_of(scene, high_cpus[place], stage->near_cpu);
        }
    }
    return EXIT_MEASURED;
}

/* For a person who reads the probe's own table; the stream has a column for it. */
static void tell_who_gave_up(const struct stages *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct scene *const scene = set->stages[i].context;
        if (scene->gave_up != 0) {
            warn("%s: in %" PRIu64 " repetitions the lock never came within --patience. These values are what was waited, "
                 "not what it would take.",
                 set->stages[i].name, scene->gave_up);
        }
    }
}

static bool check_lengths(struct inversion_options *options, bool patience_given)
{
    const int64_t together_ns = options->critical_ns + options->middle_ns;
    if (options->critical_ns < ns_per_ms / 100 || options->middle_ns < ns_per_ms / 100 ||
        options->critical_ns > 200 * ns_per_ms || options->middle_ns > 200 * ns_per_ms) {
        refuse(EXIT_USAGE, "--critical and --middle must lie between 10us and 200ms.");
        return false;
    }
    if (!patience_given && options->patience_ns < 2 * together_ns) {
        options->patience_ns = 2 * together_ns;
    }
    if (options->patience_ns <= together_ns || options->patience_ns > 800 * ns_per_ms) {
        refuse(EXIT_USAGE, "--patience must lie above the critical section and the middle task together (%" PRId64
                           " us), and at 800ms at most.",
               together_ns / 1000);
        return false;
    }
    if (options->stage.conditions.budget_ns <= options->patience_ns) {
        refuse(EXIT_USAGE, "--budget must be longer than --patience: whoever spins does not sleep.\nLengthen it.");
        return false;
    }
    return true;
}

static void write_parameters(struct json *json, const void *given)
{
    const struct inversion_options *const options = given;
    json_integer(json, "critical_ns", options->critical_ns);
    json_integer(json, "middle_ns", options->middle_ns);
    json_integer(json, "patience_ns", options->patience_ns);
}

/* False: `code` is the exit code of the program. */
static bool read_options(struct inversion_options *options, int argc, char **argv, int *code)
{
    struct stage_options *const stage = &options->stage;
    struct option table[] = {
        {"critical", OPTION_DURATION, &options->critical_ns, NULL, "CPU time of the critical section [1ms]", false},
        {"middle", OPTION_DURATION, &options->middle_ns, NULL, "CPU time of the middle task [20ms]", false},
        {"patience", OPTION_DURATION, &options->patience_ns, NULL, "longest spin for a spin lock [100ms]", false},
        {"cpus", OPTION_TEXT, &stage->cpus_text, NULL, "the CPU; a second one for --place different [the first]",
         false},
        {"place", OPTION_CHOICE, &stage->place, stage_places, "high on the CPU of the others, on another [same]",
         false},
        {"policy", OPTION_CHOICE, &stage->policy, stage_policies, "fifo or rr [fifo]", false},
        {"priority", OPTION_COUNT, &stage->priority, NULL, "of high; middle and low lie below [90 on Linux]", false},
        {"count", OPTION_COUNT, &stage->count, NULL, "repetitions for each lock [10]", false},
        {"warmup", OPTION_COUNT, &stage->warmup, NULL, "repetitions before those, not recorded [1]", false},
        CONDITION_OPTIONS(&stage->conditions),
    };
    const size_t count = sizeof table / sizeof table[0];
    if (!stage_options_read(stage, table, count, argc, argv,
                            "usage: tauto-probe inversion [options]\n\n"
                            "Which locks are open to priority inversion: how long a thread waits for a lock that a\n"
                            "lower-priority one holds, while one of middle priority works.\n\n",
                            PRIORITIES, code)) {
        return false;
    }
    *code = EXIT_USAGE;
    return check_lengths(options, options_given("patience"));
}

int experiment_inversion(int argc, char **argv)
{
    struct inversion_options options = {
        .stage = stage_options_default(10, 1),
        .critical_ns = ns_per_ms,
        .middle_ns = 20 * ns_per_ms,
        .patience_ns = 100 * ns_per_ms,
    };
    options.stage.place = PLACE_SAME;
    int code = EXIT_MEASURED;
    if (!read_options(&options, argc, argv, &code)) {
        return code;
    }
    code = conditions_need_cpu_time();
    if (code == EXIT_MEASURED) {
        code = conditions_prepare(&options.stage.conditions);
    }
    if (code != EXIT_MEASURED) {
        return code;
    }
    struct scene scenes[SCENES_LIMIT];
    struct stage stages[SCENES_LIMIT];
    struct stages set = {
        .experiment = "inversion",
        .schema = &inversion_schema,
        .options = &options.stage,
        .parameters = write_parameters,
        .given = &options,
        .stages = stages,
    };
    code = lay_out(&set, scenes, &options);
    if (code == EXIT_MEASURED) {
        code = stages_measure(&set);
        if (options.stage.conditions.recording.out == NULL) {
            tell_who_gave_up(&set);
        }
    }
    free_scenes(scenes, set.count);
    return code;
}
