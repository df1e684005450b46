/* The table of a probe that runs alone on a bare board. Times in microseconds with three decimals. */
#include "record/recorder_parts.h"
#include "format.h"
#include "message.h"

#include <inttypes.h>

enum { NS_PER_US = 1000 };

static void print_us(int64_t ns)
{
    const char *const sign = ns < 0 ? "-" : "";
    const uint64_t size = ns < 0 ? (uint64_t)(-(ns + 1)) + 1 : (uint64_t)ns;
    char text[32];
    format_text(text, sizeof text, "%s%" PRIu64 ".%03" PRIu64, sign, size / NS_PER_US, size % NS_PER_US);
    print(" %12s", text);
}

/* A quantile that rests on no sample beyond it would only repeat the maximum. */
static void print_quantile(const struct histogram *histogram, uint64_t parts, uint64_t whole)
{
    if (histogram->total < whole / (whole - parts)) {
        print(" %12s", "too few");
    } else {
        print_us(histogram_quantile(histogram, parts, whole));
    }
}

static void print_source(const struct recorder *recorder, const struct source *source)
{
    print("%-16s", source->name);
    if (recorder->options.periodic) {
        print(" %10" PRIu64 " %10" PRIu64 " %8" PRIu64, source->counters.released, source->counters.completed,
               atomic_load(&source->counters.missed));
    } else {
        print(" %10" PRIu64, source->counters.completed);
    }
    if (source->histogram.total == 0) {
        print("  no samples\n");
        return;
    }
    print_us(source->histogram.minimum);
    print_quantile(&source->histogram, 1, 2);
    print_quantile(&source->histogram, 99, 100);
    print_quantile(&source->histogram, 999, 1000);
    print_quantile(&source->histogram, 99999, 100000);
    print_us(source->histogram.maximum);
    print("\n");
}

void print_table(const struct recorder *recorder)
{
    print("%s in us, clock cost %" PRId64 " ns, ended: %s\n", recorder->schema->measure_meaning,
           recorder->clock_before.cost_ns, how_it_ended(recorder));
    print("%-16s", "");
    if (recorder->options.periodic) {
        print(" %10s %10s %8s", "released", "completed", "missed");
    } else {
        print(" %10s", "completed");
    }
    print(" %12s %12s %12s %12s %12s %12s\n", "min", "median", "99 %", "99.9 %", "99.999 %", "max");
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        print_source(recorder, &recorder->sources[i]);
    }
    for (uint32_t i = 0; i < recorder->source_count; i++) {
        const uint64_t dropped = atomic_load(&recorder->sources[i].ring.dropped);
        if (dropped != 0) {
            print("%s: %" PRIu64 " samples are missing above: the ring was full (--ring takes more rows)\n",
                   recorder->sources[i].name, dropped);
        }
    }
    print("Quantiles are exact up to 2.048 us and at most 0.1 %% too high above; min and max are exact.\n");
}
