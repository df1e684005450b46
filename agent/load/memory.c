/*
 * Memory: stressors that map memory, fill it with a pattern, check it in random order, copy it, check the copies, give
 * it back, and begin anew. Faults, the page allocator, the shared caches and buses are what they load. A wrong bit
 * ends the load. With `--stressors 5 --bytes 70%` it is the memory load of delgado2020 V.
 */
#include "load/load.h"

#include "load/touch.h"

#include <inttypes.h>
#include <string.h>

enum { PIECE_BYTES = 65536, WORDS = PIECE_BYTES / 8, MOST_STRESSORS = 1024, NS_PER_MS = 1000000, WAIT_MS = 20 };
enum { PIECES_PER_LOOK = 512, FREE_BYTES = 16 * 1024 * 1024 }; /* memory left is looked at each 32 MiB */

struct settings {
    struct memory_share share;
    int64_t stressors; /* 0: one for each CPU */
};

/* What a stressor holds: piece i has words `seed` + (i * WORDS + word) * `step`. */
struct held {
    struct load_thread *thread;
    struct memory_share *share;
    uint64_t *memory;
    size_t pieces;
    uint64_t seed;
    uint64_t step;
    bool has_filled; /* once: before that the load is not running yet */
    uint64_t untold_bytes;
};

static size_t options(void *settings, struct option *table)
{
    struct settings *const own = settings;
    table[0] = (struct option){"bytes", OPTION_TEXT, &own->share.asked, NULL,
                               "in all: 64MiB, or 70% of what is available [256MiB]", false};
    table[1] = (struct option){"stressors", OPTION_COUNT, &own->stressors, NULL, "in all [one for each CPU]", false};
    return 2;
}

static int prepare(struct load_run *run)
{
    struct settings *const settings = run->settings;
    if (settings->stressors > MOST_STRESSORS) {
        return refuse(EXIT_USAGE, "--stressors: %d at most.", MOST_STRESSORS);
    }
    if (settings->stressors > 0) {
        run->threads = (uint32_t)settings->stressors;
    }
    const int code = memory_share_read(&settings->share, run->threads, 2 * (int64_t)PIECE_BYTES);
    if (code == EXIT_MEASURED) {
        give_time_to_fill(run, settings->share.bytes);
    }
    return code;
}

static void did(struct held *held, uint64_t bytes)
{
    held->untold_bytes += bytes;
    if (held->has_filled) {
        load_did(held->thread, held->untold_bytes, held->untold_bytes);
        held->untold_bytes = 0;
    }
}

static uint64_t *piece(const struct held *held, size_t index)
{
    return held->memory + index * WORDS;
}

static void fill_piece(const struct held *held, size_t index)
{
    uint64_t *const words = piece(held, index);
    const uint64_t first = held->seed + index * WORDS * held->step;
    for (size_t i = 0; i < WORDS; i++) {
        words[i] = first + i * held->step;
    }
}

/* Does piece `index` hold what piece `like` was filled with? Bits that differ. */
static uint64_t wrong_bits(const struct held *held, size_t index, size_t like)
{
    const uint64_t *const words = piece(held, index);
    const uint64_t first = held->seed + like * WORDS * held->step;
    uint64_t wrong = 0;
    for (size_t i = 0; i < WORDS; i++) {
        wrong |= words[i] ^ (first + i * held->step);
    }
    return wrong;
}

static bool is_right(const struct held *held, size_t index, size_t like)
{
    const uint64_t wrong = wrong_bits(held, index, like);
    if (wrong != 0) {
        load_failed_because(held->thread, EXIT_FAILED,
                            "the memory of this machine is faulty: a pattern came back with %d wrong bits.",
                            __builtin_popcountll(wrong));
    }
    return wrong == 0;
}

/* False: memory is short, or the end has come. */
static bool fill(struct held *held)
{
    for (size_t i = 0; i < held->pieces; i++) {
        if (load_must_end(held->thread) || (i % PIECES_PER_LOOK == 0 && memory_share_is_short(held->share))) {
            return false;
        }
        fill_piece(held, i);
        did(held, PIECE_BYTES);
    }
    held->has_filled = true;
    did(held, 0);
    return true;
}

/* A quarter of the pieces, wherever they lie. */
static bool check_some(struct held *held)
{
    uint64_t chance = held->seed | 1U;
    for (size_t i = 0; i < held->pieces / 4 && !load_must_end(held->thread); i++) {
        chance = chance * 6364136223846793005U + 1442695040888963407U;
        const size_t index = (size_t)((chance >> 33U) % held->pieces);
        if (!is_right(held, index, index)) {
            return false;
        }
        did(held, PIECE_BYTES);
    }
    return true;
}

static bool copy_and_check(struct held *held)
{
    for (size_t i = 0; i + 1 < held->pieces && !load_must_end(held->thread); i += 2) {
        memcpy(piece(held, i + 1), piece(held, i), PIECE_BYTES);
        if (!is_right(held, i + 1, i)) {
            return false;
        }
        did(held, 3UL * PIECE_BYTES);
    }
    return true;
}

/* In parts: to give back gigabytes at once takes long. */
static void give_back(const struct held *held)
{
    const size_t bytes = held->pieces * PIECE_BYTES;
    uint8_t *const memory = (uint8_t *)held->memory;
    for (size_t at = 0; at < bytes; at += FREE_BYTES) {
        os_memory_free(memory + at, bytes - at < FREE_BYTES ? bytes - at : FREE_BYTES);
    }
}

static void work(struct load_thread *thread)
{
    struct settings *const settings = thread->run->settings;
    struct held held = {
        .thread = thread,
        .share = &settings->share,
        .pieces = (size_t)settings->share.bytes / thread->run->threads / PIECE_BYTES,
        .seed = 0x9e3779b97f4a7c15U * (thread->index + 1U),
        .step = 0xd1342543de82ef95U,
    };
    bool is_well = true;
    while (is_well && !load_must_end(thread)) {
        void *memory = NULL;
        const enum os_status status = os_memory_reserve(&memory, held.pieces * PIECE_BYTES);
        if (status != OS_OK) {
            load_failed(thread, "memory can't be had", status);
            return;
        }
        held.memory = memory;
        held.seed = ~held.seed * 0xff51afd7ed558ccdU; /* every bit is written as 0 and as 1 */
        const bool filled = fill(&held);
        is_well = !filled || (check_some(&held) && copy_and_check(&held));
        give_back(&held);
        if (!filled && !load_must_end(thread)) {
            os_sleep_until(os_now_ns() + (int64_t)WAIT_MS * NS_PER_MS); /* others give some back */
        }
    }
    load_did(thread, held.untold_bytes, held.untold_bytes); /* ended before it was running */
}

static void finish(struct load_run *run, struct json *report)
{
    const struct settings *const settings = run->settings;
    if (report != NULL) {
        memory_share_report(&settings->share, report);
    }
}

const struct load load_memory = {
    .name = "memory",
    .summary = "maps, fills, checks, copies and frees memory on every chosen CPU",
    .unit = "bytes written or read",
    .keeps_cpus_busy = true,
    .settings_bytes = sizeof(struct settings),
    .options = options,
    .prepare = prepare,
    .work = work,
    .finish = finish,
};
