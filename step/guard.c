/* The parent's side of the child: it is ended when it does not end, and its end is told. */
#include "step.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>
#include <string.h>

enum { LOOK_INTERVAL_NS = 100000000, NS_PER_MS = 1000000 };

/* Why we ended it. */
enum killed { KILLED_NOT, KILLED_STEP, KILLED_STOP, KILLED_END };

struct guarding {
    struct step_run *run;
    enum killed killed;
    int64_t asked_ns; /* since when it is to end, 0: it is not */
    int64_t ends_ns;  /* since when it is past its last step, 0: it is not */
};

void step_put_down(struct step_run *run)
{
    if (run->child.number != 0) {
        step_child_kill(&run->child);
        while (!step_child_wait(&run->child, os_now_ns() + LOOK_INTERVAL_NS, &run->ending)) {
        }
    }
}

static void put_down_for(struct guarding *guarding, enum killed why)
{
    if (guarding->killed == KILLED_NOT) {
        guarding->killed = why;
    }
    step_child_kill(&guarding->run->child);
}

static int64_t since(int64_t *instant_ns, bool holds)
{
    if (!holds) {
        return 0;
    }
    *instant_ns = *instant_ns == 0 ? os_now_ns() : *instant_ns;
    return os_now_ns() - *instant_ns;
}

/* The system's own watchdog comes first, but it does not count policy other, nor on every CPU. */
static void look(struct guarding *guarding)
{
    struct step_run *const run = guarding->run;
    const int64_t budget_ns = run->options->conditions.budget_obtained_ns;
    const int64_t patience_ns = budget_ns + budget_ns / 4;
    const int64_t now_ns = os_now_ns(); /* before: this thread, too, may get no CPU for a while */
    const int64_t begun_ns = atomic_load_explicit(&run->begun_ns, memory_order_acquire);
    const bool is_asked = recorder_stopping(run->recorder);
    const bool ends = atomic_load_explicit(&run->phase, memory_order_acquire) >= STEP_ENDS;
    if (begun_ns != 0 && now_ns - begun_ns > patience_ns) {
        put_down_for(guarding, KILLED_STEP);
    }
    if (since(&guarding->ends_ns, ends) > patience_ns) {
        put_down_for(guarding, KILLED_END);
    }
    if (since(&guarding->asked_ns, is_asked) > patience_ns || os_stop_requested() == OS_STOP_AT_ONCE) {
        put_down_for(guarding, KILLED_STOP);
    }
    if (is_asked && begun_ns == 0 && !ends) {
        step_child_wake(&run->child);
    }
}

/* "step 100", counted from the first one of the warm-up as its code knows it. */
static void where_it_was(const struct step_run *run, char *text, size_t bytes)
{
    const int phase = atomic_load(&run->phase);
    const int64_t step = atomic_load(&run->step);
    if (phase <= STEP_LOADS) {
        format_text(text, bytes, "while the library was loaded");
    } else if (phase == STEP_INITIALISES) {
        format_text(text, bytes, "in its init");
    } else if (phase >= STEP_ENDS) {
        format_text(text, bytes, "after its last step, in its end");
    } else if (atomic_load(&run->begun_ns) == 0) {
        format_text(text, bytes, "between two steps, after step %" PRId64, step);
    } else if (step < run->options->warmup) {
        format_text(text, bytes, "in step %" PRId64 ", of the warm-up", step);
    } else {
        format_text(text, bytes, "in step %" PRId64 " (release %" PRId64 " of the recorded part)", step,
                    step - run->options->warmup);
    }
}

void step_tell_end(struct step_run *run)
{
    const struct step_ending *const ending = &run->ending;
    enum { WHERE_BYTES = 128, PLAIN_KILL = 9 };
    char where[WHERE_BYTES];
    where_it_was(run, where, sizeof where);
    if (ending->by_signal) {
        format_text(run->failure, sizeof run->failure, "%s was ended by signal %d (%s) %s.%s", run->name, ending->value,
                    ending->signal, where,
                    ending->value == PLAIN_KILL ? " It ran past --budget without once sleeping, or memory ran out." : "");
    } else {
        format_text(run->failure, sizeof run->failure, "%s ended its process with exit code %d %s.", run->name,
                    ending->value, where);
    }
}

static void tell_killed(const struct guarding *guarding)
{
    struct step_run *const run = guarding->run;
    const int64_t budget_ms = run->options->conditions.budget_obtained_ns / NS_PER_MS;
    const int64_t step = atomic_load(&run->step);
    switch (guarding->killed) {
    case KILLED_STEP:
            format_text(run->failure, sizeof run->failure,
                    "%s: step %" PRId64 " did not end within %" PRId64 " ms (--budget), and was ended.", run->name, step,
                    budget_ms);
        break;
    case KILLED_END:
            format_text(run->failure, sizeof run->failure, "%s: its end did not come back within %" PRId64 " ms (--budget).",
                    run->name, budget_ms);
        break;
    default:
        warn("%s: step %" PRId64 " did not end when the run was to end, and was ended.", run->name, step);
        break;
    }
}

/* The child is gone before it could: the rows tell what was completed, and the step in which it ended was missed. */
static void keep_books(struct step_run *run)
{
    struct source *const source = run->source;
    struct counters *const counters = &source->counters;
    if (atomic_load(&run->begun_ns) != 0 && atomic_load(&run->step) >= run->options->warmup) {
        counter_add(&counters->missed, 1);
    }
    exchange_publish(&source->ring, &run->exchange);
    counters->completed = atomic_load(&source->ring.written) + atomic_load(&source->ring.dropped);
    counters->released = counters->completed + atomic_load(&counters->missed);
    counters->cpu_time_ns = INT64_MIN;
}

/* The code had ended the run already when its process ended, too. */
static void add_why(struct step_run *run, int answer)
{
    const size_t used = strlen(run->failure);
    if (answer != 0 && run->report.why[0] != '\0') {
        format_text(run->failure + used, sizeof run->failure - used, " Before, it ended the run in step %" PRId64 ": %s.",
                    atomic_load(&run->step), run->report.why);
    }
}

static void finish(const struct guarding *guarding)
{
    struct step_run *const run = guarding->run;
    const struct step_ending *const ending = &run->ending;
    const int phase = atomic_load(&run->phase);
    const int answer = atomic_load(&run->answer);
    if (guarding->killed != KILLED_NOT) {
        tell_killed(guarding);
    } else if (phase != STEP_ENDED || ending->by_signal || ending->value != EXIT_MEASURED) {
        step_tell_end(run);
        add_why(run, answer);
    } else if (answer != 0 && run->report.why[0] != '\0') {
        format_text(run->failure, sizeof run->failure, "%s ended the run in step %" PRId64 ": %s.", run->name,
                    atomic_load(&run->step), run->report.why);
    } else if (answer != 0) {
            format_text(run->failure, sizeof run->failure, "%s ended the run: step %" PRId64 " returned %d.", run->name,
                    atomic_load(&run->step), answer);
    }
    if (phase < STEP_ENDS) {
        keep_books(run);
    }
    if (atomic_load(&run->overran)) {
        os_stop_request(OS_STOP_WATCHDOG);
    }
    if (run->failure[0] != '\0') {
        recorder_fail(run->recorder, run->failure);
    }
}

void step_guard(void *argument)
{
    struct step_run *const run = argument;
    struct guarding guarding = {.run = run};
    while (!step_child_wait(&run->child, os_now_ns() + LOOK_INTERVAL_NS, &run->ending)) {
        look(&guarding);
    }
    if (atomic_fetch_sub(&run->leader->living, 1) == 1) { /* what others started is not told apart from theirs */
        step_child_sweep();
    }
    finish(&guarding);
    source_finish(run->source);
}
