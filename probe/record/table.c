/* The table of a probe that runs alone on a bare board. Times in microseconds with three decimals. */
#include "record/recorder_parts.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>
#include <string.h>

enum { NS_PER_US = 1000 };

void us_to_text(char text[US_TEXT_BYTES], int64_t ns)
{
    const char *const sign = ns < 0 ? "-" : "";
    const uint64_t size = ns < 0 ? (uint64_t)(-(ns + 1)) + 1 : (uint64_t)ns;
    format_text(text, US_TEXT_BYTES, "%s%" PRIu64 ".%03" PRIu64, sign, size / NS_PER_US, size % NS_PER_US);
}

static bool print_us(int64_t ns)
{
    char text[US_TEXT_BYTES];
    us_to_text(text, ns);
    return print(" %12s", text);
}

/* As in the lab: a quantile is told where its two-sided 95 % interval exists, from ln(0.025) / ln(q) samples on. */
struct told_quantile {
    uint64_t parts;
    uint64_t whole;
    uint64_t samples_needed;
};
static const struct told_quantile quantiles[] = {
    {1, 2, 6}, {99, 100, 368}, {999, 1000, 3688}, {99999, 100000, 368887}};

static bool print_quantile(const struct histogram *histogram, const struct told_quantile *quantile)
{
    if (histogram->total < quantile->samples_needed) {
        return print(" %12s", "too few");
    }
    return print_us(histogram_quantile(histogram, quantile->parts, quantile->whole));
}

/* Left of each line; as wide as the longest name of all rows. */
static bool print_name(const struct recorder *recorder, const char *name)
{
    size_t widest = 16;
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        const size_t length = strlen(recorder->sources[i].name);
        widest = length > widest ? length : widest;
    }
    for (uint32_t i = 0; i < recorder->absent_count; i++) {
        const size_t length = strlen(recorder->absent[i].name);
        widest = length > widest ? length : widest;
    }
    bool printed = print("%s", name);
    for (size_t i = strlen(name); i < widest; i++) {
        printed &= print(" ");
    }
    return printed;
}

static bool print_source(const struct recorder *recorder, const struct source *source, uint32_t measure)
{
    const struct histogram *const histogram = &source->histograms[measure];
    bool printed = print_name(recorder, source->name);
    if (recorder->options.periodic) {
        printed &= print(" %10" PRIu64 " %10" PRIu64 " %8" PRIu64, source->counters.released,
                         source->counters.completed, atomic_load(&source->counters.missed));
    } else {
        printed &= print(" %10" PRIu64, source->counters.completed);
    }
    if (histogram->total == 0) {
        return print("  no samples\n") && printed;
    }
    printed &= print_us(histogram->minimum);
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        printed &= print_quantile(histogram, &quantiles[i]);
    }
    printed &= print_us(histogram->maximum);
    return print("\n") && printed;
}

static bool print_measure(const struct recorder *recorder, uint32_t measure)
{
    bool printed = print("%s in us, clock cost %" PRId64 " ns, ended: %s\n", recorder->schema->measures[measure].meaning,
                         recorder->clock_before.cost_ns, how_it_ended(recorder));
    printed &= print_name(recorder, "");
    if (recorder->options.periodic) {
        printed &= print(" %10s %10s %8s", "released", "completed", "missed");
    } else {
        printed &= print(" %10s", "completed");
    }
    printed &= print(" %12s %12s %12s %12s %12s %12s\n", "min", "median", "99 %", "99.9 %", "99.999 %", "max");
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        printed &= print_source(recorder, &recorder->sources[i], measure);
    }
    return printed;
}

bool print_table(const struct recorder *recorder)
{
    bool printed = true;
    for (uint32_t measure = 0; measure < recorder->schema->measure_count; measure++) {
        printed &= print_measure(recorder, measure);
    }
    for (uint32_t i = 0; i < recorder->absent_count; i++) {
        printed &= print_name(recorder, recorder->absent[i].name);
        printed &= print("  N/A: %s\n", recorder->absent[i].why);
    }
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        const struct source *const source = &recorder->sources[i];
        const uint64_t dropped = atomic_load(&source->ring.dropped);
        if (dropped != 0) {
            printed &= print("%s: missing above, because taken and not kept: %" PRIu64 "; a full ring is the usual reason "
                             "(--ring takes more rows)\n",
                             source->name, dropped);
        }
        if (source->voided != 0) {
            printed &= print("%s: missing above, because its thread left the real-time domain while they were taken: %" PRIu64
                             "\n",
                             source->name, source->voided);
        }
    }
    return print("Quantiles are exact up to 0.512 us and at most 0.4 %% too high above; min and max are exact.\n") &&
           printed;
}
