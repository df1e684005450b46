/*
 * Does each service of this system do what os/os.h promises? The conformance test of a port (docs/ports.md):
 * `tauto-probe selftest` starts it. It waits for seconds where something does not come, and claims nothing of times.
 */
#include "checks.h"

#include "format.h"
#include "message.h"
#include "os/rights.h"

#include <string.h>

enum { END_WITHIN_S = 30, MESSAGE_BYTES = 16, NAME_BYTES = 48 };
static const int64_t ns_per_s = 1000000000;

static void enter(void *argument)
{
    struct work *const work = argument;
    work->act(work);
    atomic_fetch_add(&work->done, 1);
}

/* False: some never came to their end, and stay where they are. */
static bool join(struct work *work, struct os_thread *const *threads, uint32_t count)
{
    const int64_t until_ns = os_now_ns() + END_WITHIN_S * ns_per_s;
    while (atomic_load(&work->done) < count && os_now_ns() < until_ns) {
        (void)os_sleep_until(os_now_ns() + NS_PER_MS);
    }
    if (atomic_load(&work->done) < count) {
        fail(work, "a thread did not come to its end within 30 s; nothing behind it was tried");
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        expect(work, os_thread_join(threads[i]) == OS_OK, "a thread could not be joined");
    }
    return true;
}

static bool run_threads(const struct check *check, struct work *work, const struct os_thread_attributes *attributes)
{
    struct os_thread *threads[CHECK_THREADS];
    uint32_t begun = 0;
    enum os_status status = OS_OK;
    work->act = check->act;
    while (begun < check->threads && status == OS_OK) {
        status = os_thread_create(&threads[begun], attributes, enter, work);
        begun += status == OS_OK ? 1 : 0;
    }
    if (status != OS_OK) {
        fail(work, os_status_text(status));
        atomic_store(&work->ends, true);
    } else if (check->meanwhile != NULL) {
        check->meanwhile(work, threads);
    }
    return join(work, threads, begun);
}

static void unmake(struct work *work)
{
    os_mutex_destroy(work->mutex);
    os_semaphore_destroy(work->semaphore);
    os_spin_lock_destroy(work->spin_lock);
    os_rw_lock_destroy(work->rw_lock);
    os_condition_destroy(work->condition);
    os_barrier_destroy(work->barrier);
    os_fifo_destroy(work->fifo);
    os_message_queue_destroy(work->queue);
    os_notice_destroy(work->notice);
    os_channel_destroy(work->channel);
}

struct tally {
    struct os_thread_attributes attributes;
    int failed;
    int missing;
};

static void tell(struct tally *tally, const char *name, struct os_answer answer, const char *failure)
{
    const bool is_there = answer.availability == OS_PRESENT;
    const char *const word = is_there ? (failure == NULL ? "ok" : "FAILED") : answer.availability == OS_DENIED ? "denied" : "N/A";
    print("%-30s %-7s %s\n", name, word, is_there ? (failure != NULL ? failure : "") : answer.why);
    tally->failed += is_there && failure != NULL ? 1 : 0;
    tally->missing += is_there ? 0 : 1;
}

/* False: threads are still at it. */
static bool run_check(struct tally *tally, const struct check *check)
{
    static struct work work;
    bool is_over = true;
    work = (struct work){0};
    const struct os_answer answer = check->service == OS_SERVICE_COUNT ? (struct os_answer){OS_PRESENT, ""}
                                                                       : os_service_available(check->service);
    if (answer.availability == OS_PRESENT) {
        const enum os_status made = check->make != NULL ? check->make(&work) : OS_OK;
        if (made != OS_OK) {
            fail(&work, os_status_text(made));
        } else {
            is_over = run_threads(check, &work, &tally->attributes);
        }
        if (made == OS_OK && is_over && check->judge != NULL) {
            check->judge(&work);
        }
        if (is_over) {
            unmake(&work);
        }
    }
    tell(tally, check->name, answer, work.failure);
    return is_over;
}

static bool run_channel(struct tally *tally, const struct os_channel_kind *kind)
{
    static const struct check check = {.threads = 2, .act = check_channel};
    static struct work work;
    struct os_answer answer = {OS_PRESENT, ""};
    const char *why = "";
    bool is_over = true;
    work = (struct work){0};
    const enum os_status made = os_channel_create(&work.channel, kind, MESSAGE_BYTES, &why);
    if (made == OS_OK) {
        is_over = run_threads(&check, &work, &tally->attributes);
        if (is_over) {
            unmake(&work);
        }
    } else {
        answer = (struct os_answer){made == OS_NOT_PERMITTED ? OS_DENIED : OS_ABSENT, why};
    }
    char name[NAME_BYTES];
    format_text(name, sizeof name, "channel %s", kind->name);
    tell(tally, name, answer, work.failure);
    return is_over;
}

static bool run_all(struct tally *tally)
{
    static const struct check *const tables[] = {checks_of_threads, checks_of_locks, checks_of_waiting};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        for (const struct check *check = tables[i]; check->name != NULL; check++) {
            if (!run_check(tally, check)) {
                return false;
            }
        }
    }
    for (size_t i = 0; os_channel_kinds[i] != NULL; i++) {
        if (!run_channel(tally, os_channel_kinds[i])) {
            return false;
        }
    }
    return true;
}

/* As the measuring threads have it, where this user may. */
static enum os_policy policy_of_user(void)
{
    const enum os_policy usual = os_usual_policy();
    const enum os_service service = usual == OS_POLICY_FIFO ? OS_SERVICE_POLICY_FIFO : OS_SERVICE_POLICY_RR;
    return os_service_available(service).availability == OS_PRESENT ? usual : OS_POLICY_OTHER;
}

static int run(void)
{
    struct os_facts facts;
    struct tally tally = {.attributes = {.name = "tauto-selftest", .policy = policy_of_user(), .cpu = OS_CPU_ANY}};
    tally.attributes.below_highest =
        tally.attributes.policy != OS_POLICY_OTHER ? os_priority_levels(tally.attributes.policy) - 1 : 0;
    os_facts_read(&facts);
    const enum os_status heard = os_stop_listen(); /* for the signals that a system interrupts by */
    if (heard != OS_OK) {
        return refuse(EXIT_FAILED, "the signals of the end can't be had: %s.", os_status_text(heard));
    }
    const char *const beside = facts.core[0] != '\0' ? facts.core : facts.emulator;
    print("%s %s%s%s, threads of policy %s\n\n", facts.name, facts.release, beside[0] != '\0' ? ", " : "", beside,
          os_policy_name(tally.attributes.policy));
    (void)run_all(&tally);
    print("\n%d failed, %d are not to be had here\n", tally.failed, tally.missing);
    return tally.failed == 0 ? EXIT_MEASURED : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    const char *why = "";
    speak_as("tauto-selftest");
    if (os_rights_are_of_another() && os_rights_give_back() != OS_OK) {
        return refuse(EXIT_NOT_PERMITTED, "this file's rights can't be given back.");
    }
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "selftest") != 0)) {
        return refuse(EXIT_USAGE, "%s: selftest takes no options.", argv[argc - 1]);
    }
    if (os_system_begin(&why) != OS_OK) {
        return refuse(EXIT_FAILED, "%s", why);
    }
    return after_printing(run());
}
