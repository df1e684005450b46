/* Know the ruler: what one reading of a clock costs and how fine it really is (garre2014, 3.4). */
#ifndef TAUTO_CALIBRATE_H
#define TAUTO_CALIBRATE_H

#include "os/os.h"
#include "record/json.h"

struct clock_calibration {
    size_t clock;
    int64_t reported_resolution_ns; /* what the system says, 0 when it says nothing */
    int64_t step_ns;                /* smallest difference seen between two readings that differ, 0 if none did */
    int64_t cost_ns;                /* median over batches of the time that one reading takes, */
    int64_t cost_lower_ns;          /* and their quartiles, which tell how sure it is */
    int64_t cost_upper_ns;
};

/* Takes a few milliseconds. */
struct clock_calibration calibrate_clock(size_t clock);
/* `key` is NULL inside an array. */
void calibration_to_json(struct json *json, const char *key, const struct clock_calibration *calibration);

#endif
