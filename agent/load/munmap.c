/*
 * Mappings: one thread on each chosen CPU maps memory, touches every page of it and gives all of it back with one call,
 * again and again, in one process. What the kernel does in that one call, page by page, is what some kernels can't be
 * interrupted in for long; `memory` gives back in parts, so that it does not show this.
 */
#include "load/load.h"

#include "load/touch.h"

enum { LEAST_BYTES = 65536 };

struct settings {
    struct memory_share share;
};

static size_t options(void *settings, struct option *table)
{
    struct settings *const own = settings;
    table[0] = (struct option){"bytes", OPTION_TEXT, &own->share.asked, NULL,
                               "of all mappings: 64MiB, or 70% of what is available [256MiB]", false};
    return 1;
}

static int prepare(struct load_run *run)
{
    struct settings *const settings = run->settings;
    return memory_share_read(&settings->share, run->threads, LEAST_BYTES);
}

static bool go_round(struct load_thread *thread, uint8_t *memory, size_t bytes)
{
    return touch_pages(thread, memory, bytes);
}

static void work(struct load_thread *thread)
{
    struct settings *const settings = thread->run->settings;
    memory_rounds(thread, &settings->share, 0, go_round);
}

static void finish(struct load_run *run, struct json *report)
{
    const struct settings *const settings = run->settings;
    if (report != NULL) {
        memory_share_report(&settings->share, report);
    }
}

const struct load load_munmap = {
    .name = "munmap",
    .summary = "maps memory, fills it and gives it back at once, on every chosen CPU",
    .unit = "mappings",
    .keeps_cpus_busy = true,
    .settings_bytes = sizeof(struct settings),
    .options = options,
    .prepare = prepare,
    .work = work,
    .finish = finish,
};
