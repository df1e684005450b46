/*
 * Processes: a child is forked, maps memory and touches every page of it, ends, and the next one follows. To make and to
 * tear down large address spaces is what separates one kernel's latency from another's best.
 *
 * `fork` has one chain of them for each CPU, which share the memory. `exit` is one chain, wherever the system runs it, so
 * that each process has all of the memory and its end is as long as it can be. With one CPU they are the same.
 */
#include "load/load.h"

#include "load/touch.h"
#include "os/fork.h"

struct child {
    const struct load_thread *thread;
    size_t bytes;
};

static size_t options(void *settings, struct option *table)
{
    struct memory_share *const share = settings;
    table[0] = (struct option){"bytes", OPTION_TEXT, &share->asked, NULL,
                               "of all children: 64MiB, or 70% of what is available [256MiB]", false};
    return 1;
}

static int prepare_one_chain(struct load_run *run)
{
    run->threads = 1;
    run->roams = true;
    return memory_share_prepare(run);
}

/* In the child, which is a copy of one thread of several: memory only, no locks. */
static bool touch(void *argument)
{
    const struct child *const child = argument;
    void *memory = NULL;
    if (os_memory_reserve(&memory, child->bytes) != OS_OK) {
        return false;
    }
    (void)touch_pages(child->thread, memory, child->bytes);
    return true; /* and ends with all of it mapped: the kernel tears it down */
}

static void work(struct load_thread *thread)
{
    struct memory_share *const share = thread->run->settings;
    struct child child = {.thread = thread, .bytes = (size_t)(share->bytes / thread->run->threads)};
    while (!load_must_end(thread)) {
        if (memory_share_is_short(share)) {
            wait_for_memory();
            continue;
        }
        const enum os_status status = os_fork_and_wait(touch, &child);
        if (status == OS_NO_MEMORY) { /* somebody else took it meanwhile */
            atomic_fetch_add_explicit(&share->waits, 1, memory_order_relaxed);
            wait_for_memory();
        } else if (status == OS_OK && !load_must_end(thread)) {
            load_did(thread, 1, child.bytes);
        } else if (status != OS_OK && status != OS_INTERRUPTED) {
            load_failed(thread, "a child can't do its work", status);
            return;
        }
    }
}

const struct load load_fork = {
    .name = "fork",
    .summary = "creates, fills and ends large processes on every chosen CPU",
    .unit = "processes",
    .keeps_cpus_busy = true,
    .settings_bytes = sizeof(struct memory_share),
    .options = options,
    .prepare = memory_share_prepare,
    .work = work,
    .finish = memory_share_finish,
};

const struct load load_exit = {
    .name = "exit",
    .summary = "creates, fills and ends one large process after the other",
    .unit = "processes",
    .keeps_cpus_busy = true,
    .settings_bytes = sizeof(struct memory_share),
    .options = options,
    .prepare = prepare_one_chain,
    .work = work,
    .finish = memory_share_finish,
};
