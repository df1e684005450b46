#include "load/touch.h"

enum { LEAST_BYTES = 65536, PAGE_BYTES = 4096, PAGES_PER_LOOK = 256, WAIT_MS = 10, NS_PER_MS = 1000000 };
/* No machine fills memory more slowly. */
static const int64_t least_bytes_per_s = 50000000;

bool touch_pages(const struct load_thread *thread, void *memory, size_t bytes)
{
    volatile uint8_t *const pages = memory;
    for (size_t page = 0; page < bytes / PAGE_BYTES; page++) {
        if (page % PAGES_PER_LOOK == 0 && load_must_end(thread)) {
            return false;
        }
        pages[page * PAGE_BYTES] = (uint8_t)page;
    }
    return true;
}

void wait_for_memory(void)
{
    os_sleep_until(os_now_ns() + (int64_t)WAIT_MS * NS_PER_MS);
}

void give_time_to_fill(struct load_run *run, int64_t bytes)
{
    run->start_patience_ns += bytes / least_bytes_per_s * 1000000000;
}

int memory_share_prepare(struct load_run *run)
{
    struct memory_share *const share = run->settings;
    const int code = memory_share_read(share, run->threads, LEAST_BYTES);
    if (code == EXIT_MEASURED) {
        give_time_to_fill(run, share->bytes);
    }
    return code;
}

void memory_share_finish(struct load_run *run, struct json *report)
{
    if (report != NULL) {
        memory_share_report(run->settings, report);
    }
}

void memory_rounds(struct load_thread *thread, struct memory_share *share, size_t beyond, memory_round go_round)
{
    const size_t bytes = (size_t)(share->bytes / thread->run->threads);
    while (!load_must_end(thread)) {
        if (memory_share_is_short(share)) {
            wait_for_memory();
            continue;
        }
        void *memory = NULL;
        const enum os_status status = os_memory_reserve(&memory, bytes + beyond);
        if (status != OS_OK) {
            load_failed(thread, "memory can't be had", status);
            return;
        }
        const bool all = go_round(thread, memory, bytes);
        os_memory_free(memory, bytes + beyond);
        if (all) {
            load_did(thread, 1, bytes);
        }
    }
}
