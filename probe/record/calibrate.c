#include "record/calibrate.h"

enum { BATCHES = 101, READINGS_PER_BATCH = 200, NS_PER_MS = 1000000 };

static int64_t median_cost_ns(size_t clock)
{
    int64_t elapsed[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        const int64_t begin = os_now_ns();
        for (int i = 0; i < READINGS_PER_BATCH; i++) {
            (void)os_clock_read_ns(clock);
        }
        const int64_t took = os_now_ns() - begin;
        int place = batch;
        for (; place > 0 && elapsed[place - 1] > took; place--) {
            elapsed[place] = elapsed[place - 1];
        }
        elapsed[place] = took;
    }
    return (elapsed[BATCHES / 2] + READINGS_PER_BATCH / 2) / READINGS_PER_BATCH;
}

/* A coarse clock steps with the tick: look for at most 30 ms. Nothing else is read between two readings, or the
 * smallest step of a fine clock would be that of two clocks. */
static int64_t smallest_step_ns(size_t clock)
{
    enum { STEPS_WANTED = 2000 };
    const int64_t give_up_ns = os_now_ns() + 30LL * NS_PER_MS;
    int64_t smallest = 0;
    for (int steps = 0; steps < STEPS_WANTED && os_now_ns() < give_up_ns;) {
        int64_t before = os_clock_read_ns(clock);
        for (int reading = 0; reading < READINGS_PER_BATCH; reading++) {
            const int64_t now = os_clock_read_ns(clock);
            if (now > before) {
                smallest = smallest == 0 || now - before < smallest ? now - before : smallest;
                steps++;
            }
            before = now;
        }
    }
    return smallest;
}

struct clock_calibration calibrate_clock(size_t clock)
{
    return (struct clock_calibration){
        .clock = clock,
        .reported_resolution_ns = os_clock_resolution_ns(clock),
        .step_ns = smallest_step_ns(clock),
        .cost_ns = median_cost_ns(clock),
    };
}

void calibration_to_json(struct json *json, const char *key, const struct clock_calibration *calibration)
{
    json_open_object(json, key);
    json_text(json, "name", os_clock_name(calibration->clock));
    json_integer(json, "reported_resolution_ns", calibration->reported_resolution_ns);
    json_integer(json, "step_ns", calibration->step_ns);
    json_integer(json, "cost_ns", calibration->cost_ns);
    json_close_object(json);
}
