#include "experiment/interrupt_handler.h"

#include "message.h"

#include <inttypes.h>

/* A kernel may have reason to say nothing for a while, so one of many is enough. */
enum { TRIES = 200, TRY_SLEEP_NS = 1000000, NS_PER_US = 1000 };

struct trial {
    struct os_timer_trace *trace;
    bool seen;
};

static void sleep_and_look(void *argument)
{
    struct trial *const trial = argument;
    for (int i = 0; i < TRIES && !trial->seen; i++) {
        const int64_t expiry_ns = os_now_ns() + TRY_SLEEP_NS;
        os_timer_trace_expect(trial->trace, expiry_ns);
        os_sleep_until_and_read(expiry_ns);
        trial->seen = os_timer_trace_handler_ns(trial->trace) >= expiry_ns;
    }
}

/* Are the sleeps of such a thread noticed? */
static enum os_status try_it(struct os_timer_trace *trace, const struct stage_options *stage, bool *seen)
{
    struct trial trial = {.trace = trace};
    struct os_thread *thread = NULL;
    const struct os_thread_attributes attributes = {
        .name = "tauto-trial",
        .policy = (enum os_policy)stage->policy,
        .below_highest = stage->below_highest,
        .cpu = stage->near_cpu,
    };
    const enum os_status status = os_thread_create(&thread, &attributes, sleep_and_look, &trial);
    if (status == OS_OK) {
        os_thread_join(thread);
    }
    *seen = trial.seen;
    return status;
}

static int refuse_trace(enum os_availability availability, const char *why)
{
    return refuse(availability == OS_DENIED ? EXIT_NOT_PERMITTED : EXIT_FAILED,
                  "when the timer's handler begins can't be seen here: %s.\n--without-handler measures the preemption "
                  "latency alone.",
                  why);
}

int handler_trace_open(struct os_timer_trace **trace, enum os_timer_trace_way *way, const struct stage_options *stage)
{
    static const enum os_timer_trace_way ways[] = {OS_TIMER_TRACE_DIRECT, OS_TIMER_TRACE_USUAL};
    struct os_answer answer = {OS_ABSENT, ""};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        *way = ways[i];
        answer = os_timer_trace_open(trace, ways[i]);
        if (answer.availability != OS_PRESENT) {
            continue;
        }
        bool seen = false;
        if (try_it(*trace, stage, &seen) != OS_OK || seen) {
            return EXIT_MEASURED; /* where no such thread can be had, the measuring one is refused, in better words */
        }
        os_timer_trace_close(*trace);
        *trace = NULL;
    }
    if (answer.availability != OS_PRESENT) {
        return refuse_trace(answer.availability, answer.why);
    }
    return refuse_trace(OS_ABSENT, "the kernel's timer events do not tell of this thread's sleeps (does it run in a time "
                                   "namespace?)");
}

void handler_tell_unseen(uint64_t unseen, int64_t worst_ns)
{
    if (unseen != 0) {
        warn("the kernel did not tell when the handler began: %" PRIu64 " times. These samples have a preemption latency "
             "(at most %" PRId64 ".%03" PRId64 " us) and no interrupt latency.",
             unseen, worst_ns / NS_PER_US, worst_ns % NS_PER_US);
    }
}
