/*
 * Interrupts on every chosen CPU, --rate of each kind per second. No paper has this load alone; it is what their loads
 * (laurich2004 6.1, delgado2020 V) do to a measured thread beside using the CPU: something else runs first, with
 * interrupts masked.
 *
 * `timer`: on each CPU a thread sleeps until the next instant of an absolute schedule, again and again: each time the
 * system arms the CPU's timer, which expires and wakes the thread. Instants that have passed when the thread comes to
 * them are left out and counted. While something more urgent than the load runs on a CPU, the thread arms no timer: to
 * interrupt that too, take policy fifo and a higher --priority.
 *
 * `ipi`: on each CPU a thread sends interrupts to the others, as often as it takes for each CPU to have --rate of them
 * from all others together. A CPU gets one only while a thread of this load runs there, so these threads never
 * sleep between two of them; they take all the time that is left on their CPU. Whoever sends waits for the answers
 * and can't be preempted meanwhile, and that is what a measured thread on the sender's CPU feels. Two CPUs at least.
 *
 * `network`: as `timer`, and at each expiry a packet arrives at a network device that has no other use, on that CPU: the
 * system takes it in as it does those of a card (Linux in the softirq NET_RX), and throws it away. The device is one end
 * of a virtual wire in a network of this process alone, and goes with it.
 *
 * `both`: two threads on each CPU, one for timers and one for interrupts from CPU to CPU. Real-time threads rest as load/rest.h says.
 *
 * operations: timers that expired (or packets that arrived) and interrupts that were sent to all others. The report adds `kind`, `rate_hz`,
 * `expiries`, `broadcasts`, `left_out`, `sent_by` (the system's way to send them; null for `timer`), and what the
 * system counted meanwhile on the chosen CPUs, whoever caused it: `interrupts` (all) and `interrupts_by_name` (those
 * that Linux names: LOC local timer, CAL function call, TLB, RES rescheduling, IPI0 …), and `deferred`, what the system
 * did of the work that interrupts leave behind (Linux's softirqs: NET_RX, TIMER …). They are null where that can't be read.
 */
#include "load/beat.h"
#include "load/rest.h"
#include "os/interrupts.h"
#include "os/packets.h"

#include <string.h>

enum kind { KIND_TIMER, KIND_IPI, KIND_BOTH, KIND_NETWORK };
enum { MOST_HZ = 100000 };

static const char *const kind_words[] = {"timer", "ipi", "both", "network", NULL};

struct settings {
    int kind; /* enum kind */
    int64_t rate_hz;
    bool counted; /* `before` holds something */
    struct os_interrupt_list before;
    bool deferred_counted;
    struct os_interrupt_list deferred_before;
    const char *sent_by;
    _Atomic uint64_t expiries;
    _Atomic uint64_t broadcasts;
    _Atomic uint64_t left_out;
};

static size_t options(void *settings, struct option *table)
{
    struct settings *const own = settings;
    own->kind = KIND_TIMER;
    own->rate_hz = 10000;
    table[0] = (struct option){"kind", OPTION_CHOICE, &own->kind, kind_words, "of interrupts [timer]", false};
    table[1] =
        (struct option){"rate", OPTION_RATE, &own->rate_hz, NULL, "of each kind per second, on each CPU", false};
    return 2;
}

/* From when the load began: what passes before its thread runs, or after it ran last, is left out too. */
static struct beat beat_begin(const struct load_thread *thread, int64_t rate_hz, int64_t every)
{
    return (struct beat){
        .start_ns = thread->until_ns - thread->run->duration_ns, .rate_hz = rate_hz, .every = every, .next = 1};
}

/* `packets` NULL: there are none. */
static void expire(struct load_thread *thread, struct settings *settings, const struct os_packets *packets)
{
    enum os_status status = OS_OK;
    struct beat beat = beat_begin(thread, settings->rate_hz, 1);
    struct rest rest = rest_begin();
    uint64_t expiries = 0;
    os_thread_sleep_exactly();
    while (status == OS_OK && !load_must_end(thread)) {
        rest_until(thread, beat_next_ns(&beat, os_now_ns()));
        status = packets != NULL ? os_packets_send(*packets) : OS_OK;
        load_did(thread, 1, 0);
        expiries++;
        rest_when_due(&rest, thread);
    }
    (void)beat_next_ns(&beat, os_now_ns());
    settings->expiries += expiries;
    settings->left_out += beat.left_out;
    if (status != OS_OK) {
        load_failed(thread, "a packet", status);
    }
}

static void spin_until(const struct load_thread *thread, int64_t instant_ns)
{
    while (os_now_ns() < instant_ns && !load_must_end(thread)) {
    }
}

static void interrupt_others(struct load_thread *thread, struct settings *settings, struct os_interrupter *interrupter)
{
    const int64_t others = (int64_t)thread->run->cpus.count - 1;
    const bool is_rare = settings->rate_hz < others; /* each sends once a second at least: who never does is no load */
    struct beat beat = is_rare ? beat_begin(thread, 1, 1) : beat_begin(thread, settings->rate_hz, others);
    struct rest rest = rest_begin();
    uint64_t broadcasts = 0;
    enum os_status status = OS_OK;
    while (status == OS_OK && !load_must_end(thread)) {
        spin_until(thread, beat_next_ns(&beat, os_now_ns()));
        status = os_interrupter_use(interrupter);
        if (status == OS_OK) {
            load_did(thread, 1, 0);
            broadcasts++;
        }
        rest_when_due(&rest, thread);
    }
    (void)beat_next_ns(&beat, os_now_ns());
    settings->broadcasts += broadcasts;
    settings->left_out += beat.left_out;
    if (status != OS_OK) {
        load_failed(thread, "interrupting the other CPUs", status);
    }
}

static void let_packets_arrive(struct load_thread *thread, struct settings *settings)
{
    struct os_packets packets;
    const enum os_status status = os_packets_open(&packets);
    if (status != OS_OK) {
        load_failed(thread, "a way to send packets", status);
        return;
    }
    expire(thread, settings, &packets);
    os_packets_close(packets);
}

static void work(struct load_thread *thread)
{
    struct settings *const settings = thread->run->settings;
    if (settings->kind == KIND_NETWORK) {
        let_packets_arrive(thread, settings);
        return;
    }
    const bool is_of_first_kind = thread->index < thread->run->cpus.count;
    if (settings->kind == KIND_TIMER || (settings->kind == KIND_BOTH && is_of_first_kind)) {
        expire(thread, settings, NULL);
        return;
    }
    struct os_interrupter *interrupter = NULL;
    const enum os_status status = os_interrupter_create(&interrupter);
    if (status != OS_OK) {
        load_failed(thread, "a way to interrupt other CPUs", status);
        return;
    }
    interrupt_others(thread, settings, interrupter);
    os_interrupter_destroy(interrupter);
}

/* Tries it once, so that the report can name it. */
static int find_way_to_send(struct settings *settings)
{
    struct os_interrupter *interrupter = NULL;
    enum os_status status = os_interrupter_create(&interrupter);
    if (status == OS_OK) {
        settings->sent_by = os_interrupter_way(interrupter);
        status = os_interrupter_use(interrupter);
        os_interrupter_destroy(interrupter);
    }
    return status == OS_OK ? EXIT_MEASURED
                           : refuse(EXIT_FAILED, "this system lets nobody interrupt other CPUs: %s.\n"
                                                 "Take --kind timer.",
                                    os_status_text(status));
}

static int prepare_network(void)
{
    switch (os_packets_prepare()) {
    case OS_OK:
        return EXIT_MEASURED;
    case OS_NOT_PERMITTED:
        return refuse(EXIT_NOT_PERMITTED, "--kind network: this user may not make network devices.\n"
                                          "Run it as root, or take --kind timer.");
    default:
        return refuse(EXIT_FAILED, "--kind network: this kernel has no pair of virtual network devices (veth), or no network "
                                   "namespaces.\nTake --kind timer.");
    }
}

static bool has_ipis(const struct settings *settings)
{
    return settings->kind == KIND_IPI || settings->kind == KIND_BOTH;
}

static int prepare(struct load_run *run)
{
    struct settings *const settings = run->settings;
    if (settings->rate_hz < 1 || settings->rate_hz > MOST_HZ) {
        return refuse(EXIT_USAGE, "--rate must lie between 1 and %d per second.", MOST_HZ);
    }
    if (run->cpus.cpus[0] == OS_CPU_ANY) {
        return refuse(EXIT_USAGE, "--cpus any: interrupts of this load come to CPUs that are named.\nName them.");
    }
    if (has_ipis(settings) && run->cpus.count < 2) {
        return refuse(EXIT_USAGE, "--kind %s: a CPU is interrupted by another one, so --cpus must name two at least.\n"
                                  "Or take --kind timer.",
                      kind_words[settings->kind]);
    }
    int code = has_ipis(settings) ? find_way_to_send(settings) : EXIT_MEASURED;
    if (code == EXIT_MEASURED && settings->kind == KIND_NETWORK) {
        code = prepare_network();
    }
    if (code != EXIT_MEASURED) {
        return code;
    }
    run->threads = run->cpus.count * (settings->kind == KIND_BOTH ? 2U : 1U);
    settings->counted = os_interrupts_list(&settings->before, run->cpus.cpus, run->cpus.count) == OS_OK;
    settings->deferred_counted =
        os_deferred_list(&settings->deferred_before, run->cpus.cpus, run->cpus.count) == OS_OK;
    return EXIT_MEASURED;
}

static void report_named(struct json *report, const char *key, const struct os_interrupt_counts *counts)
{
    json_open_object(report, key);
    for (size_t i = 0; i < counts->names; i++) {
        json_unsigned(report, counts->named[i].name, counts->named[i].count);
    }
    json_close_object(report);
}

static void report_counts(const struct load_run *run, struct json *report)
{
    const struct settings *const settings = run->settings;
    struct os_interrupt_list after = {.cpu_count = 0};
    struct os_interrupt_counts counts;
    if (settings->counted && os_interrupts_list(&after, run->cpus.cpus, run->cpus.count) == OS_OK) {
        os_interrupts_between(&settings->before, &after, &counts);
        json_unsigned(report, "interrupts", counts.all);
        report_named(report, "interrupts_by_name", &counts);
    } else {
        json_null(report, "interrupts");
        json_null(report, "interrupts_by_name");
    }
    os_interrupt_list_free(&after);
    if (settings->deferred_counted && os_deferred_list(&after, run->cpus.cpus, run->cpus.count) == OS_OK) {
        os_interrupts_between(&settings->deferred_before, &after, &counts);
        report_named(report, "deferred", &counts);
    } else {
        json_null(report, "deferred");
    }
    os_interrupt_list_free(&after);
}

static void report_all(const struct load_run *run, struct json *report)
{
    const struct settings *const settings = run->settings;
    json_text(report, "kind", kind_words[settings->kind]);
    json_integer(report, "rate_hz", settings->rate_hz);
    json_unsigned(report, "expiries", settings->expiries);
    json_unsigned(report, "broadcasts", settings->broadcasts);
    json_unsigned(report, "left_out", settings->left_out);
    json_text_or_null(report, "sent_by", settings->sent_by);
    report_counts(run, report);
}

static void finish(struct load_run *run, struct json *report)
{
    struct settings *const settings = run->settings;
    if (report != NULL) {
        report_all(run, report);
    }
    os_interrupt_list_free(&settings->before);
    os_interrupt_list_free(&settings->deferred_before);
}

const struct load load_irq = {
    .name = "irq",
    .summary = "interrupts on every chosen CPU, by timers, packets or from CPU to CPU",
    .unit = "timer expiries, packets and broadcasts of interrupts",
    .may_be_real_time = true,
    .settings_bytes = sizeof(struct settings),
    .options = options,
    .prepare = prepare,
    .work = work,
    .finish = finish,
};
