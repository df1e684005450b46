/*
 * Huge pages: the load `munmap`, but the system is asked to put huge pages in the place of ordinary ones (transparent huge
 * pages), and in each round each of them is taken apart, by giving one ordinary page of it back, and put together again.
 * Then all of it is given back with one call. So page faults that clear a whole huge page, splits and collapses run
 * beside what is measured.
 *
 * What the system really made of it is counted in each round: `huge_pages` had when all was touched, `splits`, and
 * `collapses`; null where it does not tell. Where it has no huge pages, as the kernels with PREEMPT_RT have none, this
 * is `munmap`, and the report says 0.
 */
#include "load/load.h"

#include "load/touch.h"
#include "os/huge_pages.h"

#include <inttypes.h>

static const int64_t least_bytes = 65536;

struct settings {
    struct memory_share share;
    int64_t huge_bytes; /* of one huge page; 0: there are none, or it is not known */
    _Atomic uint64_t asked;
    _Atomic uint64_t had;
    _Atomic uint64_t splits;
    _Atomic uint64_t collapses;
    atomic_bool refused;     /* this system has none */
    atomic_bool not_counted; /* it does not tell */
};

/* Memory of one round: whole huge pages, in a mapping that is longer by one of them. */
struct piece {
    struct load_thread *thread;
    struct settings *settings;
    uint8_t *memory;
    size_t bytes;
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
    const int64_t huge_bytes = os_huge_page_bytes();
    settings->huge_bytes = huge_bytes > 0 ? huge_bytes : 0;
    const int code = memory_share_read(&settings->share, run->threads, huge_bytes > 0 ? huge_bytes : least_bytes);
    if (code == EXIT_MEASURED) {
        give_time_to_fill(run, settings->share.bytes);
    }
    return code;
}

static void add(_Atomic uint64_t *count, uint64_t more)
{
    atomic_fetch_add_explicit(count, more, memory_order_relaxed);
}

/* Huge pages in this piece now. */
static uint64_t count(const struct piece *piece)
{
    const int64_t bytes = os_huge_bytes_of(piece->memory);
    if (bytes < 0) {
        atomic_store(&piece->settings->not_counted, true);
        return 0;
    }
    return (uint64_t)(bytes / piece->settings->huge_bytes);
}

/* All of them, one after the other. False: the load must end. */
static bool split(const struct piece *piece)
{
    for (size_t at = 0; at < piece->bytes; at += (size_t)piece->settings->huge_bytes) {
        if (load_must_end(piece->thread)) {
            return false;
        }
        os_huge_page_split(piece->memory + at);
    }
    return true;
}

/* False: the load must end. A huge page that the system has no room for stays apart. */
static bool collapse(const struct piece *piece)
{
    const size_t huge_bytes = (size_t)piece->settings->huge_bytes;
    for (size_t at = 0; at < piece->bytes; at += huge_bytes) {
        if (load_must_end(piece->thread)) {
            return false;
        }
        if (os_huge_pages_collapse(piece->memory + at, huge_bytes) == OS_UNSUPPORTED) {
            return true;
        }
    }
    return true;
}

/* Between two counts nothing else makes or takes apart huge pages of this piece, but for the system itself. */
static void take_apart_and_put_together(const struct piece *piece)
{
    struct settings *const settings = piece->settings;
    const uint64_t had = count(piece);
    add(&settings->asked, piece->bytes / (size_t)settings->huge_bytes);
    add(&settings->had, had);
    if (!split(piece)) {
        return;
    }
    const uint64_t left = count(piece);
    add(&settings->splits, had > left ? had - left : 0);
    if (collapse(piece)) {
        const uint64_t now = count(piece);
        add(&settings->collapses, now > left ? now - left : 0);
    }
}

static bool go_round(struct load_thread *thread, uint8_t *memory, size_t bytes)
{
    struct settings *const settings = thread->run->settings;
    struct piece piece = {.thread = thread, .settings = settings, .memory = memory, .bytes = bytes};
    bool asked = settings->huge_bytes > 0;
    if (asked) {
        piece.memory += ((uintptr_t)settings->huge_bytes - (uintptr_t)memory % (uintptr_t)settings->huge_bytes) %
                        (uintptr_t)settings->huge_bytes;
        asked = os_huge_pages_ask_for(piece.memory, bytes) == OS_OK;
    }
    if (!asked) {
        atomic_store(&settings->refused, true);
    }
    if (!touch_pages(thread, piece.memory, bytes)) {
        return false;
    }
    if (asked) {
        take_apart_and_put_together(&piece);
    }
    return !load_must_end(thread);
}

static void work(struct load_thread *thread)
{
    struct settings *const settings = thread->run->settings;
    memory_rounds(thread, &settings->share, (size_t)settings->huge_bytes, go_round);
}

static void report_count(struct json *report, const char *key, const struct settings *settings, uint64_t count)
{
    if (atomic_load(&settings->not_counted)) {
        json_null(report, key);
    } else {
        json_unsigned(report, key, count);
    }
}

static void finish(struct load_run *run, struct json *report)
{
    const struct settings *const settings = run->settings;
    if (report == NULL) {
        return;
    }
    memory_share_report(&settings->share, report);
    json_integer_or_null(report, "huge_page_bytes", settings->huge_bytes > 0 ? settings->huge_bytes : INT64_MIN);
    json_boolean(report, "has_huge_pages", !atomic_load(&settings->refused));
    json_unsigned(report, "huge_pages_asked_for", atomic_load(&settings->asked));
    report_count(report, "huge_pages", settings, atomic_load(&settings->had));
    report_count(report, "splits", settings, atomic_load(&settings->splits));
    report_count(report, "collapses", settings, atomic_load(&settings->collapses));
}

const struct load load_thp = {
    .name = "thp",
    .summary = "maps huge pages, takes them apart and puts them together, on every chosen CPU",
    .unit = "mappings",
    .keeps_cpus_busy = true,
    .settings_bytes = sizeof(struct settings),
    .options = options,
    .prepare = prepare,
    .work = work,
    .finish = finish,
};
