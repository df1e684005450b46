/*
 * Context switch, three ways, as in section 3.1 and Table 1 of schmidt2002. All rows have the measure duration_ns, from
 * before_ns to after_ns.
 *
 * suspend-resume: the low thread reads the clock, resumes the high one, which suspends itself again at once, and reads the
 * clock: two switches, one suspend, one resume. Needs a call that suspends another thread. Where there is none, the row is
 * absent. suspend-resume alone: the two calls on a thread below, without a switch: what is subtracted, before the result is
 * divided by two.
 *
 * yield: two threads of equal priority on one CPU yield to each other. before_ns is the last thing that the one reads
 * before its yield, after_ns the first that the other reads when its own yield returns.
 *
 * hand-over (synchronized suspend-resume): the high thread waits for a mutex that the low one holds. The low one reads
 * before_ns just before it unlocks; the high one reads after_ns just after it got the mutex. A semaphore, outside,
 * suspends the high one in each round. On two CPUs this is a wake-up there and no context switch in the paper's sense:
 * the low thread goes on. It is a row of its own.
 *
 * mutex alone: lock and unlock in one thread, nobody else wants it: what is subtracted from the hand-over.
 * clock alone: two readings; every interval above contains one.
 */
#include "experiment/experiment.h"
#include "experiment/switch_mutex.h"
#include "experiment/switch_suspend.h"

#include "format.h"
#include "message.h"

enum { PROTOCOLS = 2, ROWS_LIMIT = 4 + 3 * PROTOCOLS };
enum mutex_choice { MUTEX_NONE, MUTEX_INHERIT, MUTEX_BOTH };

static const char *const mutex_choices[] = {"none", "inherit", "both", NULL};
static const enum os_mutex_protocol protocols[PROTOCOLS] = {OS_MUTEX_NONE, OS_MUTEX_INHERIT};
static const char *const protocol_names[PROTOCOLS] = {"none", "inherit"};
static const char no_second_cpu[] = "it needs a second CPU";

struct switch_options {
    struct stage_options stage;
    int mutex; /* enum mutex_choice */
};

struct bench {
    struct switch_options options;
    bool lacks[PROTOCOLS];
    struct stages set;
    struct stage stages[ROWS_LIMIT];
    struct handover rows[ROWS_LIMIT];
    struct suspension suspensions[2];
};

static enum os_status add_row(struct bench *bench, const char *name, const char *what, struct actor measures,
                              struct actor partner, int protocol)
{
    struct stage *const stage = &bench->stages[bench->set.count];
    struct handover *const row = &bench->rows[bench->set.count];
    const bool meets = partner.act != NULL;
    const bool apart = meets && partner.cpu != measures.cpu;
    char whole[32];
    format_text(whole, sizeof whole, protocol < 0 ? "%s" : "%s %s", name, protocol < 0 ? "" : protocol_names[protocol]);
    *stage = (struct stage){
        .what = what, .actors = {measures, partner}, .actor_count = meets ? 2 : 1, .context = row};
    stage_name(stage, whole, meets ? partner.cpu : measures.cpu, measures.cpu);
    enum os_status status = pair_create(&row->pair, apart);
    if (status == OS_OK && protocol >= 0) {
        status = os_mutex_create(&row->mutex, protocols[protocol], 0);
    }
    if (status == OS_OK) {
        bench->set.count++;
    } else {
        pair_destroy(&row->pair);
        *row = (struct handover){0};
    }
    return status;
}

static bool wants_protocol(const struct bench *bench, int protocol)
{
    return (bench->options.mutex == MUTEX_BOTH || bench->options.mutex == protocol) && !bench->lacks[protocol];
}

static void see_what_lacks(struct bench *bench)
{
    static const enum os_service services[PROTOCOLS] = {OS_SERVICE_MUTEX, OS_SERVICE_MUTEX_INHERIT};
    static const char *const rows[PROTOCOLS] = {"hand-over none", "hand-over inherit"};
    for (int protocol = 0; protocol < PROTOCOLS; protocol++) {
        const struct os_answer mutex = os_service_available(services[protocol]);
        bench->lacks[protocol] = mutex.availability != OS_PRESENT;
        if (bench->lacks[protocol]) {
            stages_lack(&bench->set, rows[protocol], mutex.why);
        }
    }
}

static enum os_status add_yield(struct bench *bench)
{
    const int32_t cpu = bench->options.stage.near_cpu;
    return add_row(bench, "yield", "yield to a thread of equal priority",
                   (struct actor){.role = "first", .cpu = cpu, .act = yield_first},
                   (struct actor){.role = "second", .cpu = cpu, .act = yield_second}, -1);
}

static enum os_status add_handover(struct bench *bench, int protocol, int32_t cpu, const char *what)
{
    return add_row(bench, "hand-over", what, (struct actor){.role = "high", .cpu = cpu, .act = handover_high},
                   (struct actor){
                       .role = "low", .below = 1, .cpu = bench->options.stage.near_cpu, .act = handover_low},
                   protocol);
}

static enum os_status add_alone(struct bench *bench, const char *name, const char *what, void (*act)(struct stage *),
                                int protocol)
{
    const struct actor actor = {.role = "alone", .cpu = bench->options.stage.near_cpu, .act = act};
    return add_row(bench, name, what, actor, (struct actor){0}, protocol);
}

static enum os_status add_suspension(struct bench *bench, struct suspension *row, const char *name, const char *what,
                                     struct actor measures, struct actor partner)
{
    struct stage *const stage = &bench->stages[bench->set.count];
    measures.cpu = bench->options.stage.near_cpu;
    partner.cpu = measures.cpu;
    *stage = (struct stage){.what = what, .actors = {measures, partner}, .actor_count = 2, .context = row};
    stage_name(stage, name, measures.cpu, measures.cpu);
    const enum os_status status = pair_create(&row->pair, false);
    bench->set.count += status == OS_OK ? 1 : 0;
    return status;
}

static enum os_status add_suspensions(struct bench *bench)
{
    const struct os_answer suspend = os_service_available(OS_SERVICE_SUSPEND_RESUME);
    if (suspend.availability != OS_PRESENT) {
        stages_lack(&bench->set, "suspend-resume", suspend.why);
        return OS_OK;
    }
    const enum os_status status = add_suspension(
        bench, &bench->suspensions[0], "suspend-resume", "resume of a thread of higher priority that suspends itself again at once",
        (struct actor){.role = "low", .below = 1, .act = suspend_low}, (struct actor){.role = "high", .act = suspend_high});
    return status == OS_OK ? add_suspension(bench, &bench->suspensions[1], "suspend-resume alone",
                                            "suspend and resume of a thread that has nothing to do, no switch",
                                            (struct actor){.role = "alone", .act = suspend_alone},
                                            (struct actor){.role = "idle", .below = 1, .act = suspend_idle})
                           : status;
}

static enum os_status add_on_no_second_cpu(struct bench *bench)
{
    enum os_status status = add_yield(bench);
    for (int protocol = 0; protocol < PROTOCOLS && status == OS_OK; protocol++) {
        if (wants_protocol(bench, protocol)) {
            status = add_handover(bench, protocol, bench->options.stage.near_cpu,
                                  "mutex handover to a higher-priority thread that waits for it: unlock, switch, lock");
        }
        if (wants_protocol(bench, protocol) && status == OS_OK) {
            status = add_alone(bench, "mutex alone", "lock and unlock, nobody else wants it", mutex_alone, protocol);
        }
    }
    return status == OS_OK ? add_alone(bench, "clock alone", "two readings of the clock", clock_alone, -1) : status;
}

static enum os_status add_on_two_cpus(struct bench *bench)
{
    enum os_status status = OS_OK;
    for (int protocol = 0; protocol < PROTOCOLS && status == OS_OK; protocol++) {
        if (wants_protocol(bench, protocol)) {
            status = add_handover(bench, protocol, bench->options.stage.far_cpu,
                                  "the same across two CPUs: a wake-up there, no context switch in the paper's sense");
        }
    }
    return status;
}

static enum os_status add_rows(struct bench *bench)
{
    const struct stage_options *const options = &bench->options.stage;
    enum os_status status = OS_OK;
    see_what_lacks(bench);
    if (stage_options_want_same(options)) {
        status = add_suspensions(bench);
        status = status == OS_OK ? add_on_no_second_cpu(bench) : status;
    }
    if (status == OS_OK && stage_options_want_different(options)) {
        status = add_on_two_cpus(bench);
    }
    if (stage_options_lack_different(options)) {
        stages_lack(&bench->set, "hand-over across CPUs", no_second_cpu);
    }
    return status;
}

static void parameters_to_json(struct json *json, const void *given)
{
    const struct switch_options *const options = given;
    json_text(json, "mutex", mutex_choices[options->mutex]);
    json_integer(json, "apart_ns", PAIR_APART_NS);
}

static int measure(struct bench *bench)
{
    const enum os_status status = add_rows(bench);
    if (status != OS_OK) {
        return refuse(EXIT_FAILED, "the mutexes and semaphores of this experiment can't be made: %s.",
                      os_status_text(status));
    }
    return stages_measure(&bench->set);
}

int experiment_switch(int argc, char **argv)
{
    struct bench bench = {.options = {.stage = stage_options_default(10000, 256), .mutex = MUTEX_BOTH}};
    struct option table[] = {
        {"mutex", OPTION_CHOICE, &bench.options.mutex, mutex_choices, "its protocol [both]", false},
        STAGE_OPTIONS(&bench.options.stage)};
    int code = EXIT_MEASURED;
    if (!stage_options_read(&bench.options.stage, table, sizeof table / sizeof table[0], argc, argv,
                            "usage: tauto-probe switch [options]\n\n"
                            "Time of a context switch: yield, and a mutex handed over. (Schmidt et al. 2002, 3.1)\n\n",
                            2, &code)) {
        return code;
    }
    code = conditions_prepare(&bench.options.stage.conditions);
    if (code != EXIT_MEASURED) {
        return code;
    }
    bench.set = (struct stages){
        .experiment = "switch",
        .schema = &pair_schema,
        .options = &bench.options.stage,
        .parameters = parameters_to_json,
        .given = &bench.options,
        .tell = pairs_tell,
        .stages = bench.stages,
    };
    code = measure(&bench);
    for (uint32_t i = 0; i < bench.set.count; i++) {
        pair_destroy(&bench.rows[i].pair);
        os_mutex_destroy(bench.rows[i].mutex);
    }
    pair_destroy(&bench.suspensions[0].pair);
    pair_destroy(&bench.suspensions[1].pair);
    return code;
}
