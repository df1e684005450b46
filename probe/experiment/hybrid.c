#include "experiment/hybrid.h"

enum { ARMINGS = 15, WITHIN_PERCENT = 99 };

/* The instant is just past when the call is made: the timer is programmed, expires at once, and nobody sleeps. */
static int64_t shortest_arming_ns(void)
{
    int64_t shortest_ns = INT64_MAX;
    for (int i = 0; i < ARMINGS; i++) {
        const int64_t before_ns = os_now_ns();
        const int64_t taken_ns = os_sleep_until_and_read(before_ns) - before_ns;
        shortest_ns = taken_ns < shortest_ns ? taken_ns : shortest_ns;
    }
    return shortest_ns;
}

void hybrid_begin(struct hybrid *hybrid, int64_t period_ns)
{
    *hybrid = (struct hybrid){.period_ns = period_ns, .arming_ns = shortest_arming_ns()};
}

void hybrid_learn(struct hybrid *hybrid, int64_t late_ns)
{
    const int64_t bin = late_ns / HYBRID_BIN_NS;
    hybrid->bins[bin < 0 ? 0 : bin < HYBRID_BINS ? bin : HYBRID_BINS - 1]++;
    hybrid->wake_ups++;
}

void hybrid_settle(struct hybrid *hybrid)
{
    const uint64_t within = hybrid->wake_ups - hybrid->wake_ups * (100 - WITHIN_PERCENT) / 100;
    uint64_t seen = 0;
    int64_t bin = 0;
    while (bin < HYBRID_BINS - 1 && seen + hybrid->bins[bin] < within) {
        seen += hybrid->bins[bin++];
    }
    hybrid->margin_ns = (bin + 1) * HYBRID_BIN_NS;
    /* To sleep for less than a quarter of the period saves little, and leaves nearly nothing of the CPU to others. */
    hybrid->sleeps =
        hybrid->wake_ups != 0 && hybrid->margin_ns + hybrid->arming_ns <= hybrid->period_ns - hybrid->period_ns / 4;
    hybrid->settled = true;
}

void hybrid_to_json(struct json *json, const struct hybrid *hybrid)
{
    json_open_object(json, "hybrid");
    json_unsigned(json, "wake_ups", hybrid->wake_ups);
    json_integer(json, "margin_ns", hybrid->margin_ns);
    json_integer(json, "arming_ns", hybrid->arming_ns);
    json_boolean(json, "sleeps", hybrid->sleeps);
    json_close_object(json);
}
