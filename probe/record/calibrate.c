#include "record/calibrate.h"

enum { BATCHES = 101, READINGS_PER_BATCH = 200, NS_PER_MS = 1000000 };

static int64_t of_one_reading(int64_t batch_ns)
{
    return (batch_ns + READINGS_PER_BATCH / 2) / READINGS_PER_BATCH;
}

static void find_cost(struct clock_calibration *calibration)
{
    const size_t clock = calibration->clock;
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
    calibration->cost_lower_ns = of_one_reading(elapsed[BATCHES / 4]);
    calibration->cost_ns = of_one_reading(elapsed[BATCHES / 2]);
    calibration->cost_upper_ns = of_one_reading(elapsed[BATCHES - 1 - BATCHES / 4]);
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
    struct clock_calibration calibration = {
        .clock = clock,
        .reported_resolution_ns = os_clock_resolution_ns(clock),
        .step_ns = smallest_step_ns(clock),
    };
    find_cost(&calibration);
    return calibration;
}

void calibration_to_json(struct json *json, const char *key, const struct clock_calibration *calibration)
{
    json_open_object(json, key);
    json_text(json, "name", os_clock_name(calibration->clock));
    json_integer(json, "reported_resolution_ns", calibration->reported_resolution_ns);
    json_integer(json, "step_ns", calibration->step_ns);
    json_integer(json, "cost_ns", calibration->cost_ns);
    json_integer(json, "cost_lower_ns", calibration->cost_lower_ns);
    json_integer(json, "cost_upper_ns", calibration->cost_upper_ns);
    json_close_object(json);
}
