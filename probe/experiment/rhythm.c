#include "experiment/rhythm.h"

#include "message.h"

static const int64_t ns_per_s = 1000000000;

struct rhythm rhythm_default(void)
{
    return (struct rhythm){
        .rate_hz = RHYTHM_USUAL_RATE_HZ,
        .duration_ns = ns_per_s / RHYTHM_USUAL_RATE_HZ * RHYTHM_USUAL_COUNT,
    };
}

static bool refuse_usage(const char *what)
{
    refuse(EXIT_USAGE, "%s", what);
    return false;
}

bool rhythm_choose_period(struct rhythm *rhythm, int64_t shortest_ns, int64_t longest_ns, const char *range)
{
    if (!options_given("period")) {
        if (rhythm->rate_hz < 1) {
            return refuse_usage("--rate takes 1 Hz and more.\nFor less, give --period.");
        }
        rhythm->period_ns = (ns_per_s + rhythm->rate_hz / 2) / rhythm->rate_hz;
    } else if (options_given("rate")) {
        return refuse_usage("--rate and --period contradict each other.\nGive one of them.");
    }
    if (rhythm->period_ns < shortest_ns || rhythm->period_ns > longest_ns) {
        refuse(EXIT_USAGE, "the period must lie between %s.", range);
        return false;
    }
    return true;
}

bool rhythm_choose_count(const struct rhythm *rhythm, int64_t *count)
{
    if (!options_given("count")) {
        *count = rhythm->duration_ns / rhythm->period_ns;
    } else if (options_given("duration")) {
        return refuse_usage("--count and --duration contradict each other.\nGive one of them.");
    }
    if (*count < 1) {
        return refuse_usage("nothing to measure: the duration is shorter than one period.\nLengthen --duration.");
    }
    return true;
}
