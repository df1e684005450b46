/*
 * The way between CPUs and memory, and the last cache before it, which CPUs share: what a measured thread on another CPU
 * feels of a neighbour that only computes. No paper has this load alone; the memory load of delgado2020 V is mostly
 * faults and checks.
 *
 * `store`: each thread fills its buffer, again and again, with stores that go past the caches (non-temporal), so that
 * nothing but the memory's own rate holds it. Where the CPU has no such stores they are ordinary ones, and the report
 * says so (`stored_by` null).
 *
 * `thrash`: each thread changes a word in every line of its buffer, which is larger than the last cache, again and again:
 * each line comes in, and another one that was changed goes out, so that nobody else's lines stay there.
 *
 * `both`: a round of one, a round of the other.
 *
 * operations: lines. The report adds `kind`, `stored_bytes`, `thrashed_bytes`, `stored_by`, `last_cache_bytes` (null where
 * the system does not tell), and what the memory share adds.
 */
#include "format.h"
#include "load/load.h"
#include "load/memory_share.h"
#include "os/caches.h"

#include <inttypes.h>

enum { PIECE_BYTES = 1024 * 1024, MIB = 1024 * 1024 };
/* Of each thread, where nothing else was asked for. */
enum { CACHES = 2, LEAST_PIECES = 32, MOST_PERCENT_OF_MEMORY = 25 };

enum kind { KIND_STORE, KIND_THRASH, KIND_BOTH };
static const char *const kind_words[] = {"store", "thrash", "both", NULL};

struct settings {
    int kind; /* enum kind */
    struct memory_share share;
    int64_t last_cache_bytes;
    _Atomic uint64_t stored_bytes;
    _Atomic uint64_t thrashed_bytes;
};

static size_t options(void *settings, struct option *table)
{
    struct settings *const own = settings;
    own->kind = KIND_BOTH;
    table[0] = (struct option){"kind", OPTION_CHOICE, &own->kind, kind_words, "of load [both]", false};
    table[1] = (struct option){"bytes", OPTION_TEXT, &own->share.asked, NULL,
                               "of all buffers: 64MiB, or 70% [twice the last cache, each]", false};
    return 2;
}

static int64_t largest_last_cache_bytes(const struct cpu_list *cpus)
{
    int64_t largest = 0;
    for (uint32_t i = 0; i < cpus->count; i++) {
        const int64_t size = os_last_cache_bytes(cpus->cpus[i] == OS_CPU_ANY ? 0 : cpus->cpus[i]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

static int choose_usual(struct settings *settings, uint32_t threads, char *text, size_t bytes)
{
    const int64_t least = (int64_t)LEAST_PIECES * PIECE_BYTES;
    const int64_t most = os_memory_available_bytes() / 100 * MOST_PERCENT_OF_MEMORY;
    int64_t each = settings->last_cache_bytes * CACHES;
    each = each > least ? each : least;
    if (each * threads > most) {
        each = most / threads;
    }
    if (each <= settings->last_cache_bytes || each < PIECE_BYTES) {
        return refuse(EXIT_FAILED,
                      "there is not enough memory for buffers larger than the last cache (%" PRId64 " MiB) on %" PRIu32
                      " CPUs.\nName fewer --cpus.",
                      settings->last_cache_bytes / MIB, threads);
    }
    format_text(text, bytes, "%" PRId64 "B", each * threads);
    settings->share.asked = text;
    return EXIT_MEASURED;
}

static int prepare(struct load_run *run)
{
    struct settings *const settings = run->settings;
    char usual[32];
    settings->last_cache_bytes = largest_last_cache_bytes(&run->cpus);
    const bool asked = settings->share.asked != NULL;
    int code = asked ? EXIT_MEASURED : choose_usual(settings, run->threads, usual, sizeof usual);
    if (code == EXIT_MEASURED) {
        code = memory_share_read(&settings->share, run->threads, PIECE_BYTES);
    }
    settings->share.asked = asked ? settings->share.asked : NULL;
    if (code == EXIT_MEASURED && settings->share.bytes / run->threads <= settings->last_cache_bytes) {
        code = refuse(EXIT_USAGE,
                      "--bytes: each of %" PRIu32 " buffers must be larger than the last cache, which has %" PRId64
                      " MiB here.\nLeave --bytes out, or name fewer --cpus.",
                      run->threads, settings->last_cache_bytes / MIB);
    }
    return code;
}

/* One word of each line; its neighbours come and go with it. */
static void thrash(uint8_t *piece)
{
    volatile uint64_t *word = (volatile uint64_t *)piece;
    for (size_t line = 0; line < PIECE_BYTES / OS_CACHE_LINE_BYTES; line++) {
        *word += 1;
        word += OS_CACHE_LINE_BYTES / sizeof *word;
    }
}

/* False: the load must end. */
static bool go_round(struct load_thread *thread, uint8_t *memory, size_t bytes, bool stores, uint64_t round)
{
    struct settings *const settings = thread->run->settings;
    for (size_t at = 0; at + PIECE_BYTES <= bytes; at += PIECE_BYTES) {
        if (load_must_end(thread)) {
            return false;
        }
        if (stores) {
            os_store_past_caches(memory + at, PIECE_BYTES, round);
        } else {
            thrash(memory + at);
        }
        load_did(thread, PIECE_BYTES / OS_CACHE_LINE_BYTES, PIECE_BYTES);
        atomic_fetch_add_explicit(stores ? &settings->stored_bytes : &settings->thrashed_bytes, PIECE_BYTES,
                                  memory_order_relaxed);
    }
    return true;
}

static void work(struct load_thread *thread)
{
    const struct settings *const settings = thread->run->settings;
    const size_t bytes = (size_t)(settings->share.bytes / thread->run->threads);
    void *memory = NULL;
    const enum os_status status = os_memory_reserve(&memory, bytes);
    if (status != OS_OK) {
        load_failed(thread, "memory can't be had", status);
        return;
    }
    bool goes_on = true;
    for (uint64_t round = 1; goes_on; round++) {
        const bool stores = settings->kind == KIND_STORE || (settings->kind == KIND_BOTH && round % 2 == 1);
        goes_on = go_round(thread, memory, bytes, stores, round);
    }
    os_memory_free(memory, bytes);
}

static void finish(struct load_run *run, struct json *report)
{
    const struct settings *const settings = run->settings;
    if (report == NULL) {
        return;
    }
    json_text(report, "kind", kind_words[settings->kind]);
    json_unsigned(report, "stored_bytes", settings->stored_bytes);
    json_unsigned(report, "thrashed_bytes", settings->thrashed_bytes);
    json_text_or_null(report, "stored_by", os_store_past_caches_way());
    json_integer_or_null(report, "last_cache_bytes",
                         settings->last_cache_bytes > 0 ? settings->last_cache_bytes : INT64_MIN);
    memory_share_report(&settings->share, report);
}

const struct load load_bandwidth = {
    .name = "bandwidth",
    .summary = "the way to memory and the last cache, by stores past it and changes in every line",
    .unit = "cache lines",
    .keeps_cpus_busy = true,
    .settings_bytes = sizeof(struct settings),
    .options = options,
    .prepare = prepare,
    .work = work,
    .finish = finish,
};
