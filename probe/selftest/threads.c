/* The clock, sleeping, threads, and leaving the real-time domain. */
#include "checks.h"

/* ---- Clock and sleep ---- */

static void read_clock(struct work *work)
{
    int64_t before_ns = os_now_ns();
    const int64_t first_ns = before_ns;
    for (int i = 0; i < CHECK_ROUNDS; i++) {
        const int64_t now_ns = os_now_ns();
        expect(work, now_ns >= before_ns, "the clock went backwards");
        before_ns = now_ns;
    }
    expect(work, before_ns > first_ns, "the clock stands");
}

static void sleep_until(struct work *work)
{
    for (int i = 0; i < 20; i++) {
        const int64_t wanted_ns = os_now_ns() + NS_PER_MS;
        expect(work, os_sleep_until_and_read(wanted_ns) >= wanted_ns, "a sleep ended before its instant");
    }
    const int64_t begun_ns = os_now_ns();
    expect(work, os_sleep_until_and_read(begun_ns - patience_ns) - begun_ns < patience_ns,
           "a sleep until an instant that is past did not end at once");
}

/* ---- Threads ---- */

static void sleep_long(struct work *work)
{
    const int64_t wanted_ns = os_now_ns() + 6 * patience_ns;
    atomic_store(&work->ready, true);
    atomic_store(&work->seen, os_sleep_until_and_read(wanted_ns) < wanted_ns ? 1 : 2);
}

static void interrupt(struct work *work, struct os_thread *const *threads)
{
    const int64_t until_ns = os_now_ns() + patience_ns;
    while (atomic_load(&work->seen) == 0 && os_now_ns() < until_ns) {
        if (atomic_load(&work->ready)) {
            expect(work, os_thread_interrupt(threads[0]) == OS_OK, "os_thread_interrupt failed");
        }
        (void)os_sleep_until(os_now_ns() + NS_PER_MS);
    }
    expect(work, atomic_load(&work->seen) == 1, "a sleeping thread was not interrupted");
}

static void use_cpu(struct work *work)
{
    const int64_t before_ns = os_thread_cpu_time_ns();
    const int64_t until_ns = os_now_ns() + patience_ns;
    while (os_thread_cpu_time_ns() - before_ns < NS_PER_MS && os_now_ns() < until_ns) {
    }
    const int64_t used_ns = os_thread_cpu_time_ns() - before_ns;
    expect(work, before_ns != INT64_MIN && used_ns >= NS_PER_MS, "the CPU time of a busy thread did not grow");
}

static void yield_often(struct work *work)
{
    for (int i = 0; i < CHECK_ROUNDS; i++) {
        os_yield();
    }
    atomic_fetch_add(&work->count, 1);
}

static void all_came(struct work *work)
{
    expect(work, atomic_load(&work->count) == CHECK_THREADS, "not every thread came to its end");
}

static void count_on(struct work *work)
{
    while (!atomic_load(&work->ends)) {
        atomic_fetch_add(&work->count, 1);
        (void)os_sleep_until_and_read(os_now_ns() + NS_PER_MS / 10);
    }
}

static void wait_for_more(struct work *work, int64_t before, const char *otherwise)
{
    const int64_t until_ns = os_now_ns() + patience_ns;
    while (atomic_load(&work->count) <= before && os_now_ns() < until_ns) {
        (void)os_sleep_until(os_now_ns() + NS_PER_MS);
    }
    expect(work, atomic_load(&work->count) > before, otherwise);
}

static void suspend(struct work *work, struct os_thread *const *threads)
{
    wait_for_more(work, 0, "a thread did not begin");
    expect(work, os_thread_suspend(threads[0]) == OS_OK, "os_thread_suspend failed");
    (void)os_sleep_until(os_now_ns() + a_while_ns); /* it may be about to count once more */
    const int64_t then = atomic_load(&work->count);
    (void)os_sleep_until(os_now_ns() + a_while_ns);
    expect(work, atomic_load(&work->count) == then, "a suspended thread went on");
    expect(work, os_thread_resume(threads[0]) == OS_OK, "os_thread_resume failed");
    wait_for_more(work, then, "a resumed thread did not go on");
    atomic_store(&work->ends, true);
}

/* ---- Leaving the real-time domain ---- */

static void note_switch(void *argument)
{
    atomic_fetch_add(&((struct work *)argument)->count, 1);
}

static void leave_domain(struct work *work)
{
    if (os_thread_watch_inband(note_switch, work) != OS_OK) {
        fail(work, "os_thread_watch_inband failed");
        return;
    }
    for (int i = 0; i < 20; i++) {
        (void)os_sleep_until_and_read(os_now_ns() + NS_PER_MS);
    }
    expect(work, atomic_load(&work->count) == 0, "a thread that only slept and read the clock left the real-time domain");
    (void)os_sleep_until(os_now_ns() + NS_PER_MS); /* the ordinary side's */
    (void)os_sleep_until_and_read(os_now_ns() + NS_PER_MS);
    const int64_t noted = atomic_load(&work->count);
    expect(work, noted > 0, "a thread that made a call of the ordinary side was not told to have left the real-time domain");
    os_thread_go_ordinary();
    (void)os_sleep_until(os_now_ns() + NS_PER_MS);
    os_thread_go_realtime();
    (void)os_sleep_until_and_read(os_now_ns() + NS_PER_MS);
    expect(work, atomic_load(&work->count) == noted, "what a thread did that had gone to the ordinary side was told");
}

const struct check checks_of_threads[] = {
    {"clock", OS_SERVICE_COUNT, 1, read_clock, NULL, NULL, NULL},
    {"sleep until an instant", OS_SERVICE_COUNT, 1, sleep_until, NULL, NULL, NULL},
    {"yield", OS_SERVICE_YIELD, CHECK_THREADS, yield_often, NULL, NULL, all_came},
    {"interruption of a sleep", OS_SERVICE_INTERRUPTION, 1, sleep_long, NULL, interrupt, NULL},
    {"suspend and resume", OS_SERVICE_SUSPEND_RESUME, 1, count_on, NULL, suspend, NULL},
    {"CPU time of a thread", OS_SERVICE_THREAD_CPU_TIME, 1, use_cpu, NULL, NULL, NULL},
    {"in-band switches", OS_SERVICE_INBAND_SWITCHES, 1, leave_domain, NULL, NULL, NULL},
    {0},
};
