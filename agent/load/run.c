/* The threads of a load: started, watched until the end, and asked what they did. */
#include "load/run.h"

#include "format.h"
#include "os/process.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LOOK_INTERVAL_MS = 20, NS_PER_MS = 1000000 };
static const int64_t ns_per_s = 1000000000;
/* From the request to end. */
static const int64_t wake_after_ns = 20000000;
static const int64_t end_patience_ns = 500000000;

bool load_must_end(const struct load_thread *thread)
{
    return os_stop_requested() != OS_STOP_NONE || os_now_ns() >= thread->until_ns;
}

void load_did(struct load_thread *thread, uint64_t operations, uint64_t bytes)
{
    atomic_fetch_add_explicit(&thread->operations, operations, memory_order_relaxed);
    atomic_fetch_add_explicit(&thread->bytes, bytes, memory_order_relaxed);
}

void load_takes_part(struct load_thread *thread)
{
    atomic_store_explicit(&thread->takes_part, true, memory_order_relaxed);
}

static void fail(struct load_thread *thread, enum exit_code code)
{
    thread->failure_code = code;
    os_stop_request(OS_STOP_INTERRUPTED); /* the others end too: half a load is none */
}

void load_failed(struct load_thread *thread, const char *what, enum os_status status)
{
    const bool known = status != OS_OK;
    format_text(thread->failure, sizeof thread->failure, "the load '%s' can't go on: %s%s%s.", thread->run->load->name,
                what, known ? ": " : "", known ? os_status_text(status) : "");
    fail(thread, EXIT_FAILED);
}

void load_failed_because(struct load_thread *thread, enum exit_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_arguments(thread->failure, sizeof thread->failure, format, arguments);
    va_end(arguments);
    fail(thread, code);
}

static void run(void *argument)
{
    struct load_thread *const thread = argument;
    thread->run->load->work(thread);
    thread->cpu_time_ns = os_thread_cpu_time_ns();
    atomic_store(&thread->has_ended, true);
}

static void print_line(struct json *json)
{
    json_close_object(json);
    print("%s\n", json->out_of_memory ? "{}" : json->text);
    json_free(json);
}

static void say_running(const struct load_run *run)
{
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "load", run->load->name);
    json_text(&json, "event", "running");
    json_integer(&json, "threads", run->threads);
    print_line(&json);
}

static void say_what_it_did(struct load_run *run, const struct load_thread *threads, int64_t elapsed_ns)
{
    const int64_t children_ns = os_children_cpu_time_ns();
    int64_t cpu_time_ns = children_ns > 0 ? children_ns : 0;
    uint64_t operations = 0;
    uint64_t least = UINT64_MAX;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < run->threads; i++) {
        const uint64_t own = atomic_load_explicit(&threads[i].operations, memory_order_relaxed);
        operations += own;
        const bool counts = !atomic_load_explicit(&threads[i].takes_part, memory_order_relaxed);
        least = counts && own < least ? own : least;
        bytes += atomic_load_explicit(&threads[i].bytes, memory_order_relaxed);
        cpu_time_ns += threads[i].cpu_time_ns;
    }
    struct json json;
    json_begin(&json);
    json_open_object(&json, NULL);
    json_text(&json, "load", run->load->name);
    json_text(&json, "event", "ended");
    json_unsigned(&json, "operations", operations);
    json_text(&json, "unit", run->load->unit);
    json_unsigned(&json, "least_operations", least); /* of one thread: a starved one shows */
    json_unsigned(&json, "bytes", bytes);
    json_integer(&json, "elapsed_ns", elapsed_ns);
    json_integer(&json, "cpu_time_ns", cpu_time_ns);
    json_integer(&json, "threads", run->threads);
    json_boolean(&json, "keeps_cpus_busy", run->load->keeps_cpus_busy);
    if (run->load->finish != NULL) {
        run->load->finish(run, &json);
    }
    print_line(&json);
}

static int refuse_thread(const struct load_run *run, int32_t cpu, enum os_status status)
{
    if (status == OS_NOT_PERMITTED) { /* only real-time ones are refused */
        return refuse(EXIT_NOT_PERMITTED, "policy %s with priority %" PRId64 " is not permitted to this user.\n"
                      "Grant it with the line \"@realtime - rtprio 99\" in /etc/security/limits.d/realtime.conf for a "
                      "group you are in, then log in again; or run as root. In a container: --cap-add SYS_NICE. What "
                      "setcap gives to tauto-probe is not for loads.",
                      os_policy_name(run->policy), run->priority);
    }
    if (status == OS_TIMED_OUT) {
        return refuse(EXIT_FAILED, "a thread of the load did not come to run: threads of higher priority hold CPU %d.\n"
                                   "Choose other --cpus for the load.", (int)cpu);
    }
    return refuse(EXIT_FAILED, "a thread of the load can't be started: %s.", os_status_text(status));
}

static int start_threads(const struct load_run *run_, struct load_thread *threads, int64_t begin_ns, uint32_t *started)
{
    for (*started = 0; *started < run_->threads; (*started)++) {
        struct load_thread *const thread = &threads[*started];
        thread->run = run_;
        thread->index = *started;
        thread->cpu = run_->roams ? OS_CPU_ANY : run_->cpus.cpus[*started % run_->cpus.count];
        thread->until_ns = begin_ns + run_->duration_ns;
        const struct os_thread_attributes attributes = {
            .name = "tauto-load",
            .policy = run_->policy,
            .below_highest = run_->below_highest,
            .cpu = thread->cpu,
        };
        const enum os_status status = os_thread_create_ordinary(&thread->thread, &attributes, run, thread);
        if (status != OS_OK) {
            return refuse_thread(run_, thread->cpu, status);
        }
    }
    return EXIT_MEASURED;
}

static bool works(const struct load_thread *thread)
{
    return atomic_load_explicit(&thread->takes_part, memory_order_relaxed) ||
           atomic_load_explicit(&thread->operations, memory_order_relaxed) > 0;
}

static uint32_t working(const struct load_run *run, const struct load_thread *threads)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->threads; i++) {
        count += works(&threads[i]) ? 1U : 0U;
    }
    return count;
}

static bool may_go_on(int64_t until_ns)
{
    return os_stop_requested() == OS_STOP_NONE && !os_input_ended() && os_now_ns() < until_ns;
}

/* Waits until all threads work, says so, and waits for the end. */
static int watch_threads(const struct load_run *run, const struct load_thread *threads, int64_t begin_ns)
{
    const int64_t until_ns = begin_ns + run->duration_ns;
    const int64_t give_up_ns = begin_ns + run->start_patience_ns;
    while (working(run, threads) < run->threads) {
        if (!may_go_on(until_ns)) {
            return EXIT_MEASURED;
        }
        if (os_now_ns() > give_up_ns) {
            return refuse(EXIT_FAILED, "only %" PRIu32 " of %" PRIu32 " threads of the load '%s' did anything in %d s.",
                          working(run, threads), run->threads, run->load->name,
                          (int)(run->start_patience_ns / ns_per_s));
        }
        os_sleep_until(os_now_ns() + NS_PER_MS);
    }
    say_running(run);
    while (may_go_on(until_ns)) {
        os_sleep_until(os_now_ns() + (int64_t)LOOK_INTERVAL_MS * NS_PER_MS);
    }
    return EXIT_MEASURED;
}

/* Those that sleep are woken. Those whose CPU is held by more urgent threads may end on another one. */
static void end_threads(const struct load_thread *threads, uint32_t started)
{
    os_stop_request(OS_STOP_INTERRUPTED);
    const int64_t begin_ns = os_now_ns();
    bool unpinned = false;
    for (uint32_t i = 0; i < started; i++) {
        while (!atomic_load(&threads[i].has_ended)) {
            const int64_t waited_ns = os_now_ns() - begin_ns;
            if (waited_ns > wake_after_ns) {
                os_thread_interrupt(threads[i].thread);
            }
            if (waited_ns > end_patience_ns && !unpinned) {
                os_threads_unpin();
                unpinned = true;
            }
            os_sleep_until(os_now_ns() + NS_PER_MS);
        }
        os_thread_join(threads[i].thread);
    }
}

/* Tells the first failure; a thread that failed has asked the others to end. */
static int tell_failure(const struct load_run *run, const struct load_thread *threads)
{
    for (uint32_t i = 0; i < run->threads; i++) {
        if (threads[i].failure_code != EXIT_MEASURED) {
            return refuse(threads[i].failure_code, "%s", threads[i].failure);
        }
    }
    return EXIT_MEASURED;
}

static void finish_silently(struct load_run *run)
{
    if (run->load->finish != NULL) {
        run->load->finish(run, NULL);
    }
}

/* Where the whole process runs, how much it gives way, and that memory is taken from it first. Where the system does
 * not grant it, the threads' own placement still holds. */
static void place(const struct load_run *run)
{
    if (run->cpus.cpus[0] != OS_CPU_ANY) {
        (void)os_thread_keep_to(run->cpus.cpus, run->cpus.count);
    }
    if (run->policy == OS_POLICY_OTHER && run->nice > 0) {
        os_thread_give_way((int32_t)run->nice);
    }
    os_memory_end_first();
}

int load_run_threads(struct load_run *run)
{
    struct load_thread *const threads = calloc(run->threads, sizeof *threads);
    if (threads == NULL) {
        finish_silently(run);
        return refuse(EXIT_FAILED, "there is no memory for the load.");
    }
    place(run);
    const int64_t begin_ns = os_now_ns();
    uint32_t started = 0;
    int code = start_threads(run, threads, begin_ns, &started);
    if (code == EXIT_MEASURED) {
        code = watch_threads(run, threads, begin_ns);
    }
    end_threads(threads, started);
    if (code == EXIT_MEASURED) {
        code = tell_failure(run, threads);
    }
    if (code == EXIT_MEASURED) {
        say_what_it_did(run, threads, os_now_ns() - begin_ns);
    } else {
        finish_silently(run);
    }
    free(threads);
    return code;
}
