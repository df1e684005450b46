#include "record/recorder.h"

#include "format.h"
#include "message.h"
#include "record/late.h"
#include "record/recorder_parts.h"
#include "record/ruler.h"

#include <inttypes.h>
#include <string.h>

/* A flight recorder keeps what happened for a tenth of a second where two threads wake each other all the time. */
enum { DRAIN_INTERVAL_MS = 100, DRAIN_INTERVAL_BLAMING_MS = 25, PROGRESS_INTERVAL_MS = 1000, HISTOGRAM_EVERY_PROGRESS = 10, NS_PER_MS = 1000000 };
enum { SUB_BITS_OF_INTERVALS = 6 }; /* of histograms: a month of 64 CPUs has room in 5 GB */
enum { EVENT_BYTES = 1024, EVENT_BYTES_PER_SOURCE = 192 }; /* more than the longest event of the recorder's own has */

static size_t histogram_memory_bytes(const struct recorder *recorder)
{
    /* The largest rows, each with its value. */
    const size_t columns = recorder->schema->column_count + 1;
    const size_t largest = recorder->options.every_ns > 0 ? LARGEST_ROWS * columns : 0;
    return recorder->schema->measure_count * histogram_bytes() + largest * sizeof(int64_t);
}

static void free_sources(struct recorder *recorder)
{
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        ring_destroy(&recorder->sources[i].ring);
        os_memory_free(recorder->sources[i].histogram_memory, histogram_memory_bytes(recorder));
    }
    late_close(recorder);
    os_memory_free(recorder->sources, recorder->source_count * sizeof *recorder->sources);
    json_free(&recorder->event);
}

static const char *how_to_need_less(const struct recorder_options *options)
{
    return options->drain == DRAIN_AT_END ? "measure fewer of them, or leave --drain at-end out"
                                          : "give --ring fewer rows";
}

static int refuse_memory(const struct recorder_options *options, uint32_t source_count, enum os_status status)
{
    const char *const why = os_status_text(status);
    if (os_memory_is_locked()) {
        return refuse(EXIT_NOT_PERMITTED,
                      "no memory for %" PRIu64 " rows for each source (%u): %s.\nAll of it has to be locked, and the "
                      "limit on locked memory may be lower. %s Or take less: %s.",
                      options->ring_rows, source_count, why, os_advice_for_memory_lock(), how_to_need_less(options));
    }
    return refuse(EXIT_USAGE, "no memory for %" PRIu64 " rows for each source (%u): %s.\nTake less: %s.",
                  options->ring_rows, source_count, why, how_to_need_less(options));
}

static bool needs_histograms(const struct recorder_options *options)
{
    return options->out == NULL || options->record == RECORD_HISTOGRAM;
}

static bool counts_switches(void)
{
    return os_service_available(OS_SERVICE_INBAND_SWITCHES).availability == OS_PRESENT;
}

/* Before the system kills somebody. All is touched at once, and one part in 16 of what there is stays to the others. */
static int check_memory(const struct recorder_options *options, const struct schema *schema, uint32_t source_count)
{
    enum { BYTES_PER_KB = 1000, BYTES_PER_MB = 1000000, PART_FOR_OTHERS = 16 };
    const uint64_t available = (uint64_t)os_memory_available_bytes();
    const uint64_t ring = ring_bytes(options->ring_rows, schema->column_count);
    const uint64_t of_histograms = needs_histograms(options) ? schema->measure_count * histogram_bytes() : 0;
    const uint64_t of_voids = counts_switches() ? ring / (schema->column_count * sizeof(int64_t)) : 0;
    const uint64_t rest = sizeof(struct source) + of_histograms + of_voids;
    const uint64_t all = ring > (UINT64_MAX - rest) / source_count - rest ? UINT64_MAX : (ring + rest) * source_count;
    if (all <= available - available / PART_FOR_OTHERS) {
        return EXIT_MEASURED;
    }
    char histograms[64] = "";
    if (of_histograms > 0) {
        format_text(histograms, sizeof histograms, "with %" PRIu64 " KB of histograms each, ", of_histograms / BYTES_PER_KB);
    }
    return refuse(EXIT_USAGE,
                  "no memory for %" PRIu64 " rows for each source (%u): %sthey take %" PRIu64 " MB, rounded up to powers "
                  "of two, %" PRIu64 " MB are left.\nTake less: %s.",
                  options->ring_rows, source_count, histograms, all / BYTES_PER_MB + 1, available / BYTES_PER_MB,
                  how_to_need_less(options));
}

/* A ring and histograms, near the CPU that will fill the ring. */
static enum os_status create_source(struct recorder *recorder, uint32_t index)
{
    const struct recorder_options *const options = &recorder->options;
    struct source *const source = &recorder->sources[index];
    const int32_t cpu = options->thread_of != NULL ? options->thread_of(options->context, index).cpu : OS_CPU_ANY;
    enum os_status status = ring_create(&source->ring, options->ring_rows, recorder->schema->column_count, cpu);
    if (status == OS_OK && counts_switches()) {
        status = ring_allow_voids(&source->ring);
    }
    if (status == OS_OK && needs_histograms(options)) {
        status = os_memory_allocate_near(&source->histogram_memory, histogram_memory_bytes(recorder), cpu);
    }
    for (uint32_t m = 0; m < recorder->schema->measure_count; m++) {
        source->worst_ns[m] = INT64_MIN;
        if (source->histogram_memory != NULL) {
            histogram_begin(&source->histograms[m], (uint8_t *)source->histogram_memory + m * histogram_bytes());
            if (options->every_ns > 0) {
                source->histograms[m].sub_bits = SUB_BITS_OF_INTERVALS;
            }
        }
    }
    if (options->every_ns > 0 && source->histogram_memory != NULL) {
        source->interval.largest =
            (int64_t *)source->histogram_memory + recorder->schema->measure_count * histogram_bytes() / sizeof(int64_t);
        source->interval.worst_ns = INT64_MIN;
    }
    return status;
}

int recorder_open(struct recorder *recorder, const struct recorder_options *options, const struct schema *schema,
                  uint32_t source_count)
{
    memset(recorder, 0, sizeof *recorder);
    recorder->options = *options;
    recorder->schema = schema;
    int code = options->housekeeping != NULL ? housekeeping_choose(&recorder->housekeeping, options->housekeeping)
                                             : EXIT_MEASURED;
    if (code == EXIT_MEASURED) {
        code = check_memory(options, schema, source_count);
    }
    if (code != EXIT_MEASURED) {
        return code;
    }
    void *memory = NULL;
    enum os_status status = os_memory_allocate(&memory, source_count * sizeof *recorder->sources);
    if (status != OS_OK) {
        return refuse_memory(options, source_count, status);
    }
    recorder->sources = memory; /* whole pages, so its cache lines are as declared */
    recorder->source_count = source_count;
    for (uint32_t i = 0; i < source_count; i++) {
        recorder->sources[i] = (struct source){.last_ns = INT64_MIN};
    }
    status = json_reserve(&recorder->event, EVENT_BYTES + (size_t)source_count * EVENT_BYTES_PER_SOURCE) ? OS_OK : OS_NO_MEMORY;
    for (uint32_t i = 0; i < source_count && status == OS_OK; i++) {
        status = create_source(recorder, i);
    }
    if (status != OS_OK) {
        free_sources(recorder);
        return refuse_memory(options, source_count, status);
    }
    ruler_take_before(recorder);
    recorder->clock_before = ruler_slowest(recorder, false);
    code = late_open(recorder);
    if (code != EXIT_MEASURED) {
        free_sources(recorder);
    }
    return code;
}

void recorder_add_absence(struct recorder *recorder, const char *name, const char *why)
{
    if (recorder->absent_count < ABSENCES_LIMIT) {
        recorder->absent[recorder->absent_count++] = (struct absence){name, why};
    }
}

/* In the thread that left, at the place where it left. */
static void note_switch(void *argument)
{
    struct source *const source = argument;
    atomic_fetch_add_explicit(&source->counters.inband_switches, 1, memory_order_relaxed);
    ring_void(&source->ring);
}

int64_t source_join(struct source *source)
{
    if (source->ring.voids != NULL) {
        (void)os_thread_watch_inband(note_switch, source);
    }
    return os_thread_cpu_time_ns();
}

void recorder_fail(struct recorder *recorder, const char *why)
{
    const char *none = NULL;
    atomic_compare_exchange_strong(&recorder->failure, &none, why);
    atomic_store(&recorder->stop, true);
}

static void drain_all(struct recorder *recorder)
{
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        drain_source(recorder, (uint16_t)i);
    }
    if (recorder->streaming) {
        stream_flush(&recorder->stream);
    }
}

/* Once a second; a histogram is written now and then, so that a long run that is killed keeps much of it. */
static void tell_progress(struct recorder *recorder, uint64_t times)
{
    write_progress(recorder, times);
    late_keep_looking(recorder);
    if (recorder->streaming && recorder->options.drain == DRAIN_LIVE) {
        if (recorder->options.record == RECORD_HISTOGRAM && recorder->options.every_ns == 0 &&
            times % HISTOGRAM_EVERY_PROGRESS == 0 &&
            recorder->histogram_bytes <= histogram_allowance_bytes(os_now_ns() - recorder->began_ns)) {
            write_histograms(recorder);
        }
        stream_flush(&recorder->stream); /* a reader that went away is noticed here at the latest */
    }
}

void recorder_run(struct recorder *recorder)
{
    recorder->began_ns = os_now_ns();
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        recorder->sources[i].interval.from_ns = recorder->began_ns;
    }
    recorder->next_border_ns = recorder->began_ns + recorder->options.every_ns;
    int64_t next_progress_ns = recorder->began_ns + (int64_t)PROGRESS_INTERVAL_MS * NS_PER_MS;
    uint64_t progresses = 0;
    bool told = false;
    const int64_t interval_ns =
        (int64_t)(recorder->late != NULL ? DRAIN_INTERVAL_BLAMING_MS : DRAIN_INTERVAL_MS) * NS_PER_MS;
    watch_begin(recorder);
    late_keep_looking(recorder);
    while (!all_finished(recorder)) {
        os_sleep_until(os_now_ns() + interval_ns);
        if (recorder->options.drain == DRAIN_LIVE) {
            drain_all(recorder);
        }
        if (recorder->stream.failed) {
            atomic_store(&recorder->stop, true);
        }
        watch_instead(recorder);
        if (recorder_stopping(recorder) && !told) {
            write_stop_event(recorder);
            told = true;
        }
        if (recorder->options.every_ns > 0 && recorder->next_border_ns <= os_now_ns()) {
            write_interval(recorder);
            stream_flush(&recorder->stream);
        }
        if (os_now_ns() >= next_progress_ns) {
            tell_progress(recorder, ++progresses);
            next_progress_ns = os_now_ns() + (int64_t)PROGRESS_INTERVAL_MS * NS_PER_MS;
        }
    }
    watch_end(recorder);
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        if (recorder->sources[i].thread != NULL) {
            os_thread_join(recorder->sources[i].thread);
            recorder->sources[i].thread = NULL;
        }
    }
    drain_all(recorder);
    housekeeping_end(&recorder->housekeeping);
}

void recorder_abandon(struct recorder *recorder)
{
    if (recorder->streaming) {
        (void)stream_close(&recorder->stream);
    }
    free_sources(recorder);
}

static int exit_code_of_run(void)
{
    if (os_stop_requested() == OS_STOP_WATCHDOG) {
        return refuse(EXIT_FAILED, "the watchdog ended the run: a measuring thread ran past --budget without once "
                                   "sleeping.\nWhat was measured before is kept. Lengthen the period, or the budget.");
    }
    return EXIT_MEASURED;
}

int recorder_close(struct recorder *recorder)
{
    int code = exit_code_of_run();
    if (recorder->options.out == NULL) {
        if (!print_table(recorder)) {
            code = refuse(EXIT_FAILED, "the table could not be printed.");
        }
    } else {
        if (recorder->options.every_ns > 0) {
            write_interval(recorder);
        } else if (recorder->options.record == RECORD_HISTOGRAM) {
            write_histograms(recorder);
        }
        late_write_names(recorder);
        write_footer(recorder);
        if (!stream_close(&recorder->stream)) {
            code = refuse(EXIT_FAILED,
                          "--out %s: it could not be written to its end (is the disk full, did the reader go away?).\n"
                          "What was written before is whole.",
                          recorder->options.out);
        }
    }
    free_sources(recorder);
    return code;
}
