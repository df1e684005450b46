#include "record/recorder.h"

#include "message.h"
#include "record/recorder_parts.h"

#include <stdlib.h>

enum { DRAIN_INTERVAL_MS = 100, PROGRESS_INTERVAL_MS = 1000, HISTOGRAM_EVERY_PROGRESS = 10, NS_PER_MS = 1000000 };

static void free_sources(struct recorder *recorder)
{
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        ring_destroy(&recorder->sources[i].ring);
        histogram_destroy(&recorder->sources[i].histogram);
    }
    free(recorder->sources);
}

int recorder_open(struct recorder *recorder, const struct recorder_options *options, const struct schema *schema,
                  uint32_t source_count)
{
    recorder->options = *options;
    recorder->schema = schema;
    recorder->source_count = source_count;
    recorder->stream.failed = false;
    atomic_init(&recorder->stop, false);
    atomic_init(&recorder->overrun_stop, false);
    recorder->clock_before = calibrate_clock(0);
    recorder->sources = aligned_alloc(CACHE_LINE_BYTES, source_count * sizeof *recorder->sources);
    if (recorder->sources == NULL) {
        return refuse(EXIT_FAILED, "no memory for %u sources.", source_count);
    }
    for (uint32_t i = 0; i < source_count; i++) {
        recorder->sources[i] = (struct source){.worst_ns = INT64_MIN};
    }
    const bool needs_histogram = options->out == NULL || options->record == RECORD_HISTOGRAM;
    for (uint32_t i = 0; i < source_count; i++) {
        struct source *const source = &recorder->sources[i];
        enum os_status status = ring_create(&source->ring, options->ring_rows, schema->column_count);
        if (status == OS_OK && needs_histogram) {
            status = histogram_create(&source->histogram);
        }
        if (status != OS_OK) {
            free_sources(recorder);
            return refuse(EXIT_USAGE, "no memory for %llu rows for each of %u sources: %s. Give --ring fewer rows, or raise the limit on "
                          "locked memory (memlock in limits.conf), or add --no-memory-lock.",
                          (unsigned long long)options->ring_rows, source_count, os_status_text(status));
        }
    }
    return 0;
}

static bool all_finished(const struct recorder *recorder)
{
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        if (!atomic_load_explicit(&recorder->sources[i].finished, memory_order_acquire)) {
            return false;
        }
    }
    return true;
}

static void drain_all(struct recorder *recorder)
{
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        drain_source(recorder, (uint16_t)i);
    }
    if (recorder->options.out != NULL) {
        stream_flush(&recorder->stream);
    }
}

/* Sleeping threads are woken again and again: one may have been just about to sleep when the first call came. */
static void end_sources(struct recorder *recorder)
{
    atomic_store(&recorder->stop, true);
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        struct source *const source = &recorder->sources[i];
        if (source->thread != NULL && !atomic_load_explicit(&source->finished, memory_order_acquire)) {
            os_thread_interrupt(source->thread);
        }
    }
}

/* Once a second; a histogram is written now and then, so that a long run that is killed keeps nearly all of it. */
static void tell_progress(struct recorder *recorder, uint64_t times)
{
    write_progress(recorder);
    if (recorder->options.out != NULL) {
        if (recorder->options.record == RECORD_HISTOGRAM && times % HISTOGRAM_EVERY_PROGRESS == 0) {
            write_histograms(recorder);
        }
        stream_flush(&recorder->stream); /* a reader that went away is noticed here at the latest */
    }
}

void recorder_run(struct recorder *recorder)
{
    int64_t next_progress_ns = os_now_ns() + (int64_t)PROGRESS_INTERVAL_MS * NS_PER_MS;
    uint64_t progresses = 0;
    bool told = false;
    while (!all_finished(recorder)) {
        os_sleep_until(os_now_ns() + (int64_t)DRAIN_INTERVAL_MS * NS_PER_MS);
        if (recorder->options.drain == DRAIN_LIVE) {
            drain_all(recorder);
        }
        if (recorder_stopping(recorder) || recorder->stream.failed) {
            if (!told) {
                write_stop_event(recorder);
                told = true;
            }
            end_sources(recorder);
        }
        if (os_now_ns() >= next_progress_ns) {
            tell_progress(recorder, ++progresses);
            next_progress_ns += (int64_t)PROGRESS_INTERVAL_MS * NS_PER_MS;
        }
    }
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        if (recorder->sources[i].thread != NULL) {
            os_thread_join(recorder->sources[i].thread);
            recorder->sources[i].thread = NULL;
        }
    }
    drain_all(recorder);
}

void recorder_abandon(struct recorder *recorder)
{
    free_sources(recorder);
}

static int exit_code_of_run(void)
{
    if (os_stop_requested() == OS_STOP_WATCHDOG) {
        return refuse(EXIT_FAILED, "the watchdog ended the run: a measuring thread ran past --budget without once "
                                   "sleeping. What was measured before is kept. Lengthen the period.");
    }
    return EXIT_MEASURED;
}

int recorder_close(struct recorder *recorder)
{
    int code = exit_code_of_run();
    if (recorder->options.out == NULL) {
        print_table(recorder);
    } else {
        if (recorder->options.record == RECORD_HISTOGRAM) {
            write_histograms(recorder);
        }
        write_footer(recorder);
        if (!stream_close(&recorder->stream)) {
            code = refuse(EXIT_FAILED,
                          "%s could not be written to its end (is the disk full, did the reader go away?). What was "
                          "written before is whole.",
                          recorder->options.out);
        }
    }
    free_sources(recorder);
    return code;
}
