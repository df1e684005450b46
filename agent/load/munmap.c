/*
 * Mappings: one thread on each chosen CPU maps memory, touches every page of it and gives all of it back with one call,
 * again and again, in one process. What the kernel does in that one call, page by page, is what some kernels can't be
 * interrupted in for long; `memory` gives back in parts, so that it does not show this.
 */
#include "load/load.h"

#include "load/touch.h"

static size_t options(void *settings, struct option *table)
{
    struct memory_share *const share = settings;
    table[0] = (struct option){"bytes", OPTION_TEXT, &share->asked, NULL,
                               "of all mappings: 64MiB, or 70% of what is available [256MiB]", false};
    return 1;
}

static bool go_round(struct load_thread *thread, uint8_t *memory, size_t bytes)
{
    return touch_pages(thread, memory, bytes);
}

static void work(struct load_thread *thread)
{
    memory_rounds(thread, thread->run->settings, 0, go_round);
}

const struct load load_munmap = {
    .name = "munmap",
    .summary = "maps memory, fills it and gives it back at once, on every chosen CPU",
    .unit = "mappings",
    .keeps_cpus_busy = true,
    .settings_bytes = sizeof(struct memory_share),
    .options = options,
    .prepare = memory_share_prepare,
    .work = work,
    .finish = memory_share_finish,
};
