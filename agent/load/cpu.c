/*
 * Arithmetic that keeps a CPU busy and out of memory, one method after the other: "sequentially exercise all methods
 * available" (delgado2020 V, with stress-ng). Floating point first, then whole numbers.
 */
#include "load/load.h"

#include "format.h"
#include "load/cpu_methods.h"

#include <string.h>

enum { SLICE_MS = 50, NS_PER_MS = 1000000, MOST_METHODS = 32 };

struct settings {
    const char *wanted;
    const struct cpu_method *methods[MOST_METHODS]; /* in turn */
    size_t count;
    _Atomic uint64_t rounds[MOST_METHODS]; /* of all threads */
};

static size_t options(void *settings, struct option *table)
{
    struct settings *const own = settings;
    own->wanted = "all";
    table[0] = (struct option){"method", OPTION_TEXT, &own->wanted, NULL, "all in turn, or one by its name [all]", false};
    return 1;
}

static void choose_from(struct settings *settings, const struct cpu_method *methods)
{
    const bool all = strcmp(settings->wanted, "all") == 0;
    for (; methods->name != NULL; methods++) {
        if (all || strcmp(settings->wanted, methods->name) == 0) {
            settings->methods[settings->count++] = methods;
        }
    }
}

static int prepare(struct load_run *run)
{
    struct settings *const settings = run->settings;
    choose_from(settings, cpu_floating);
    choose_from(settings, cpu_integers);
    if (settings->count > 0) {
        return EXIT_MEASURED;
    }
    char names[512] = "all";
    size_t length = strlen(names);
    for (int table = 0; table < 2; table++) {
        for (const struct cpu_method *at = table == 0 ? cpu_floating : cpu_integers; at->name != NULL; at++) {
            length += format_text(names + length, sizeof names - length, ", %s", at->name);
        }
    }
    return refuse(EXIT_USAGE, "--method %s: no such method.\nThere are %s.", settings->wanted, names);
}

/* How many rounds the thread did until the end of the slice. */
static uint64_t compute_until(struct load_thread *thread, const struct cpu_method *method, int64_t end_ns, uint64_t *seed)
{
    uint64_t rounds = 0;
    while (!load_must_end(thread) && os_now_ns() < end_ns) {
        *seed = *seed * 6364136223846793005U + method->compute(*seed); /* the result counts: it can't be left out */
        load_did(thread, 1, 0);
        rounds++;
    }
    return rounds;
}

static void work(struct load_thread *thread)
{
    struct settings *const settings = thread->run->settings;
    uint64_t seed = 0x9e3779b97f4a7c15U * (thread->index + 1U);
    while (!load_must_end(thread)) {
        for (size_t i = 0; i < settings->count && !load_must_end(thread); i++) {
            const int64_t end_ns = os_now_ns() + (int64_t)SLICE_MS * NS_PER_MS;
            const uint64_t rounds = compute_until(thread, settings->methods[i], end_ns, &seed);
            atomic_fetch_add_explicit(&settings->rounds[i], rounds, memory_order_relaxed);
        }
    }
    if (seed == 0) { /* never, but nobody can know that before */
        load_takes_part(thread);
    }
}

static void finish(struct load_run *run, struct json *report)
{
    struct settings *const settings = run->settings;
    if (report == NULL) {
        return;
    }
    json_open_object(report, "methods");
    for (size_t i = 0; i < settings->count; i++) {
        json_unsigned(report, settings->methods[i]->name, atomic_load(&settings->rounds[i]));
    }
    json_close_object(report);
}

const struct load load_cpu = {
    .name = "cpu",
    .summary = "arithmetic of many kinds in turn on every chosen CPU",
    .unit = "rounds of arithmetic",
    .keeps_cpus_busy = true,
    .settings_bytes = sizeof(struct settings),
    .options = options,
    .prepare = prepare,
    .work = work,
    .finish = finish,
};
