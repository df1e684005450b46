/*
 * The child: it loads the user's code and calls it at each release. Of each step it takes, in this order: the first time
 * stamp after the sleep; what the system has counted so far; the time stamp before the call; the one after it; what was
 * counted. Between the two time stamps there is the indirect call alone.
 */
#include "step.h"

#include "experiment/schedule.h"
#include "format.h"
#include "message.h"

#include <string.h>

enum { NS_PER_MS = 1000000, STACK_BYTES = 256 * 1024, TRIES = 1000 };

/* What was counted before a step, or after it. */
struct reading {
    int64_t cpu_ns;
    struct step_usage usage;
    int64_t events[EVENTS_LIMIT];
    int64_t explained[EXPLAINED_COLUMNS]; /* of the step alone */
};

struct loop {
    struct step_run *run;
    struct step_code code;
    struct step_counters counters;
    struct reading before;
    struct reading after;
    uint32_t columns; /* of a row, without the outputs */
    struct exchange exchange;
    int64_t told[EXCHANGE_COLUMNS]; /* by the exchange, of the step */
    int64_t row[STEP_ROW_WORDS];
};

static void wait_for(const struct step_run *run, enum step_phase phase)
{
    while (atomic_load_explicit(&run->phase, memory_order_acquire) < (int)phase) {
        os_sleep_until(os_now_ns() + NS_PER_MS);
    }
}

static _Noreturn void give_in(struct step_run *run, enum exit_code code)
{
    run->code = (int)code;
    step_reach(run, STEP_REFUSED);
    step_child_end(EXIT_FAILED, true);
}

static void read_before(struct loop *loop)
{
    if (loop->run->counts_events) {
        step_counters_read(&loop->counters, loop->before.events);
    }
    step_usage_read(&loop->before.usage);
    loop->before.cpu_ns = os_thread_cpu_time_ns();
}

/* What is explained begins last and ends first, so that nothing of ours is in it. */
static void explain_from(const struct loop *loop, int64_t release)
{
    if (loop->run->explained != NULL) {
        const bool is_first = loop->run->first[STEP_SCHEDULED] == 0 && release < 0;
        step_explainer()->begin(release, is_first       ? EXPLAINED_FIRST
                                         : release < 0 ? EXPLAINED_WARMUP
                                                       : EXPLAINED_RECORDED);
    }
}

static void explain_until(struct loop *loop)
{
    if (loop->run->explained != NULL) {
        step_explainer()->end(loop->after.explained);
    }
}

static void read_after(struct loop *loop)
{
    loop->after.cpu_ns = os_thread_cpu_time_ns();
    step_usage_read(&loop->after.usage);
    if (loop->run->counts_events) {
        step_counters_read(&loop->counters, loop->after.events);
    }
}

static int do_nothing(void *context, uint64_t k, int64_t t_ns)
{
    (void)context;
    (void)k;
    (void)t_ns;
    return 0;
}

/* Of a step that does nothing: the least that lies between its time stamps, and that the CPU time has more than they. */
static void calibrate(struct loop *loop)
{
    int (*volatile const nothing)(void *, uint64_t, int64_t) = do_nothing;
    struct step_run *const run = loop->run;
    run->call_ns = INT64_MAX;
    run->cpu_clock_ns = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        read_before(loop);
        const int64_t begin_ns = os_now_ns();
        (void)nothing(NULL, 0, 0);
        const int64_t end_ns = os_now_ns();
        read_after(loop);
        const int64_t call_ns = end_ns - begin_ns;
        const int64_t more_ns = loop->after.cpu_ns - loop->before.cpu_ns - call_ns;
        run->call_ns = call_ns < run->call_ns ? call_ns : run->call_ns;
        run->cpu_clock_ns = more_ns < run->cpu_clock_ns ? more_ns : run->cpu_clock_ns;
    }
    run->cpu_clock_ns = run->cpu_clock_ns > 0 ? run->cpu_clock_ns : 0;
}

static int64_t more(int64_t before, int64_t after)
{
    return before == INT64_MIN || after == INT64_MIN ? NO_VALUE : after - before;
}

/* A thread has no more CPU time than passes. */
static int64_t cpu_until(const struct loop *loop, int64_t begin_ns, int64_t end_ns)
{
    const int64_t used_ns = more(loop->before.cpu_ns, loop->after.cpu_ns);
    if (used_ns == NO_VALUE) {
        return NO_VALUE;
    }
    const int64_t until_ns = begin_ns + used_ns - loop->run->cpu_clock_ns;
    return until_ns < begin_ns ? begin_ns : until_ns < end_ns ? until_ns : end_ns;
}

/* The bits of a double, in a column that says so. */
static void take_outputs(struct loop *loop)
{
    if (loop->run->outputs > 0) {
        memcpy(loop->row + loop->columns, loop->run->signals.out, loop->run->outputs * sizeof *loop->row);
    }
}

static void fill_in(struct loop *loop, int64_t scheduled_ns, int64_t wake_ns, int64_t begin_ns, int64_t end_ns)
{
    const struct step_usage *const before = &loop->before.usage;
    const struct step_usage *const after = &loop->after.usage;
    int64_t *const row = loop->row;
    row[STEP_SCHEDULED] = scheduled_ns;
    row[STEP_WAKE] = wake_ns;
    row[STEP_BEGIN] = begin_ns;
    row[STEP_END] = end_ns;
    row[STEP_CPU] = cpu_until(loop, begin_ns, end_ns);
    row[STEP_VOLUNTARY] = more(before->voluntary, after->voluntary);
    row[STEP_INVOLUNTARY] = more(before->involuntary, after->involuntary);
    row[STEP_MINOR] = more(before->minor, after->minor);
    row[STEP_MAJOR] = more(before->major, after->major);
    for (int i = 0; i < EVENTS_LIMIT; i++) {
        row[STEP_CYCLES + i] = loop->run->counts_events ? more(loop->before.events[i], loop->after.events[i]) : NO_VALUE;
    }
    for (int i = 0; i < EXPLAINED_COLUMNS && loop->run->explained != NULL; i++) {
        row[STEP_EXPLAINED + i] = loop->after.explained[i];
    }
    if (loop->run->exchange_at != 0) {
        memcpy(row + loop->run->exchange_at, loop->told, sizeof loop->told);
    }
}

static void record(struct loop *loop, int64_t release)
{
    struct source *const source = loop->run->source;
    if (loop->run->first[STEP_SCHEDULED] == 0) {
        memcpy(loop->run->first, loop->row, sizeof loop->run->first);
    }
    if (release < 0) {
        source->counters.warmup++;
        return;
    }
    const bool exchanges = loop->run->exchange_at != 0;
    int64_t *const slot = exchanges ? exchange_slot(&loop->exchange) : ring_slot(&source->ring);
    if (slot != NULL) {
        memcpy(slot, loop->row, source->ring.row_words * sizeof *slot);
        if (exchanges) {
            exchange_keep(&loop->exchange, slot);
        } else {
            ring_commit(&source->ring);
        }
    }
    source->counters.completed++;
}

/* Real-fast there are no releases: each step is as if released when the one before it is done. */
static int64_t wait_for_turn(const struct step_run *run, struct schedule *schedule)
{
    if (run->options->pace == STEP_REAL_FAST) {
        schedule->scheduled_ns = os_now_ns();
        return schedule->scheduled_ns;
    }
    return schedule_wait(schedule, run->recorder);
}

static bool follow(struct step_run *run, struct schedule *schedule, int64_t end_ns)
{
    if (run->options->pace == STEP_REAL_FAST) {
        schedule->release++;
        return true;
    }
    return schedule_follow(schedule, run->source, run->recorder, (enum overrun)run->options->overrun, end_ns);
}

static void serve(struct loop *loop)
{
    struct step_run *const run = loop->run;
    const struct step_options *const options = run->options;
    struct recorder *const recorder = run->recorder;
    const struct step_code code = loop->code;
    const bool exchanges = run->exchange_at != 0;
    struct schedule schedule =
        schedule_from(run->first_release_ns, options->period_ns, options->count, options->warmup);
    bool goes_on = true;
    while (goes_on && schedule_goes_on(&schedule, recorder)) {
        const int64_t wake_ns = wait_for_turn(run, &schedule);
        if (wake_ns < schedule.scheduled_ns) {
            break; /* stopped before this release came: it does not count */
        }
        const int64_t k = schedule.release + options->warmup;
        const int64_t t_ns = k * options->period_ns;
        atomic_store_explicit(&run->step, k, memory_order_relaxed);
        atomic_store_explicit(&run->begun_ns, wake_ns, memory_order_release);
        if (exchanges) {
            exchange_take(&loop->exchange, loop->told);
        }
        if (run->inputs.columns > 0) { /* what the user gave holds, whatever a device answers */
            step_inputs_set(&run->inputs, run->signals.in, (uint64_t)k);
        }
        read_before(loop);
        explain_from(loop, schedule.release);
        const int64_t begin_ns = os_now_ns();
        const int answer = code.step(code.context, (uint64_t)k, t_ns);
        const int64_t end_ns = os_now_ns();
        explain_until(loop);
        read_after(loop);
        atomic_store_explicit(&run->begun_ns, 0, memory_order_release);
        int64_t done_ns = end_ns;
        if (exchanges) {
            exchange_give(&loop->exchange, (uint64_t)k, schedule.release >= 0, loop->told);
            done_ns = loop->told[EXCHANGE_SENT];
        }
        fill_in(loop, schedule.scheduled_ns, wake_ns, begin_ns, end_ns);
        take_outputs(loop);
        record(loop, schedule.release);
        atomic_store_explicit(&run->answer, answer, memory_order_relaxed);
        goes_on = follow(run, &schedule, done_ns) && answer == 0;
    }
    if (options->pace == STEP_REAL_TIME) {
        schedule_close(&schedule, run->source);
    }
    if (exchanges) {
        /* No release is due any more. Whoever asked it to stop waits a quarter longer than the budget (guard.c). */
        exchange_finish(&loop->exchange, recorder, options->conditions.budget_obtained_ns / 8);
    }
}

/* The pages of the stack that a step will use. */
static void touch_stack(void)
{
    volatile char stack[STACK_BYTES];
    for (size_t i = 0; i < sizeof stack; i += NS_PER_MS / 1000) {
        stack[i] = 0;
    }
}

/* From here on to a device, or to a peer. */
static void open_exchange(struct loop *loop)
{
    struct step_run *const run = loop->run;
    const struct exchange_options *const options = &run->options->exchange;
    struct exchange *const exchange = &loop->exchange;
    const char *why = NULL;
    enum os_status status = link_open(&exchange->link, &options->address, LINK_LOOP, &why);
    if (status == OS_OK) {
        status = exchange_prepare(exchange, options, run->options->period_ns, &run->source->ring,
                                  run->exchange_at, &run->exchange);
    }
    if (status != OS_OK) {
        format_text(run->why, sizeof run->why, "--exchange %s: nothing can be exchanged: %s.", options->text,
                    why != NULL ? why : os_status_text(status));
        give_in(run, status == OS_NOT_PERMITTED ? EXIT_NOT_PERMITTED : EXIT_USAGE);
    }
    run->is_stamped = exchange->link.is_stamped;
    exchange->signals = &run->signals;
}

/* Everything that needs rights, and then without them the user's code. */
static void prepare(struct loop *loop)
{
    struct step_run *const run = loop->run;
    struct os_thread_attributes ordinary = step_attributes(run->options, run->instance);
    ordinary.policy = OS_POLICY_OTHER; /* until it is initialised: that has no deadline */
    enum os_status status = os_thread_adopt(&ordinary);
    step_child_part();
    if (status == OS_OK && !run->options->conditions.recording.no_memory_lock) {
        status = os_memory_lock();
    }
    const char *why = NULL;
    if (run->counts_events) {
        (void)step_counters_open(&loop->counters, step_hardware, &why); /* without them its columns are empty */
    }
    if (run->explained != NULL) {
        step_explainer()->open(run->explained);
    }
    calibrate(loop);
    if (status == OS_OK && run->exchange_at != 0) {
        open_exchange(loop);
    }
    if (status == OS_OK) {
        status = step_child_give_up_rights();
    }
    if (status != OS_OK) {
        format_text(run->why, sizeof run->why, "the process for %s can't be set up: %s.", run->name,
                    os_status_text(status));
        give_in(run, status == OS_NOT_PERMITTED ? EXIT_NOT_PERMITTED : EXIT_FAILED);
    }
}

static void initialise(struct loop *loop)
{
    struct step_run *const run = loop->run;
    step_reach(run, STEP_LOADS);
    loop->columns = step_columns(run);
    loop->code.unpacked = run->options->unpacked;
    loop->code.period_ns = run->options->period_ns;
    loop->code.report = &run->report;
    if (!run->kind->load(&loop->code, run->options->code, run->why, sizeof run->why)) {
        give_in(run, EXIT_USAGE);
    }
    step_reach(run, STEP_INITIALISES);
    loop->code.context = loop->code.init != NULL ? loop->code.init() : NULL;
    if (loop->code.init != NULL && loop->code.context == NULL) {
        const char *const why = run->report.why[0] != '\0' ? run->report.why : "it returned NULL";
        format_text(run->why, sizeof run->why, "%s: its init failed: %s.\nWhat it wrote may say why.", run->name, why);
        give_in(run, (enum exit_code)EXIT_OF_CODE);
    }
    const int code = step_signals_take(run, &loop->code, loop->exchange.link.values_limit);
    if (code != EXIT_MEASURED) {
        give_in(run, (enum exit_code)code);
    }
}

void step_live(void *argument)
{
    static struct loop loop;
    struct step_run *const run = argument;
    loop.run = run;
    prepare(&loop);
    initialise(&loop);
    if (run->explained != NULL) {
        step_explainer()->start();
    }
    step_reach(run, STEP_INITIALISED);
    wait_for(run, STEP_RANKED);
    os_thread_read_back(&run->obtained);
    touch_stack();
    step_reach(run, STEP_READY);
    wait_for(run, STEP_RUNS);
    struct source *const source = run->source;
    const int64_t cpu_time_before_ns = source_join(source);
    serve(&loop);
    source->counters.cpu_time_ns = source_cpu_time_since(cpu_time_before_ns);
    atomic_store(&run->overran, os_stop_requested() == OS_STOP_WATCHDOG);
    step_reach(run, STEP_ENDS);
    if (loop.code.end != NULL) {
        loop.code.end(loop.code.context);
    }
    step_reach(run, STEP_ENDED);
    step_child_end(EXIT_MEASURED, false);
}
