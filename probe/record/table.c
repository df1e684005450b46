/* The table of a probe that runs alone on a bare board. Times in microseconds with three decimals. */
#include "record/recorder_parts.h"

#include "format.h"
#include "message.h"

#include <inttypes.h>

enum { NS_PER_US = 1000 };

static bool print_us(int64_t ns)
{
    const char *const sign = ns < 0 ? "-" : "";
    const uint64_t size = ns < 0 ? (uint64_t)(-(ns + 1)) + 1 : (uint64_t)ns;
    char text[32];
    format_text(text, sizeof text, "%s%" PRIu64 ".%03" PRIu64, sign, size / NS_PER_US, size % NS_PER_US);
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

static bool print_source(const struct recorder *recorder, const struct source *source)
{
    bool printed = print("%-16s", source->name);
    if (recorder->options.periodic) {
        printed &= print(" %10" PRIu64 " %10" PRIu64 " %8" PRIu64, source->counters.released,
                         source->counters.completed, atomic_load(&source->counters.missed));
    } else {
        printed &= print(" %10" PRIu64, source->counters.completed);
    }
    if (source->histogram.total == 0) {
        return print("  no samples\n") && printed;
    }
    printed &= print_us(source->histogram.minimum);
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        printed &= print_quantile(&source->histogram, &quantiles[i]);
    }
    printed &= print_us(source->histogram.maximum);
    return print("\n") && printed;
}

static bool print_heading(const struct recorder *recorder)
{
    bool printed = print("%s in us, clock cost %" PRId64 " ns, ended: %s\n", recorder->schema->measure_meaning,
                         recorder->clock_before.cost_ns, how_it_ended(recorder));
    printed &= print("%-16s", "");
    if (recorder->options.periodic) {
        printed &= print(" %10s %10s %8s", "released", "completed", "missed");
    } else {
        printed &= print(" %10s", "completed");
    }
    return print(" %12s %12s %12s %12s %12s %12s\n", "min", "median", "99 %", "99.9 %", "99.999 %", "max") && printed;
}

bool print_table(const struct recorder *recorder)
{
    bool printed = print_heading(recorder);
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        printed &= print_source(recorder, &recorder->sources[i]);
    }
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        const uint64_t dropped = atomic_load(&recorder->sources[i].ring.dropped);
        if (dropped != 0) {
            printed &= print("%s: %" PRIu64 " samples are missing above: the ring was full (--ring takes more rows)\n",
                             recorder->sources[i].name, dropped);
        }
    }
    return print("Quantiles are exact up to 2.048 us and at most 0.1 %% too high above; min and max are exact.\n") &&
           printed;
}
