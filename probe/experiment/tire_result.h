/* What became of the tire, and how often its threads gave up their CPU: the event `result` of the stream. */
#ifndef TAUTO_TIRE_RESULT_H
#define TAUTO_TIRE_RESULT_H

#include "experiment/tire_team.h"

/* Room for the coordinates of all masses, laid out before the run. */
struct tire_result {
    double *first;
    double *second;
    size_t bytes; /* of both */
    uint32_t positions_crc32c;
    bool finite;
};

enum os_status tire_result_prepare(struct tire_result *result, int64_t nodes);
void tire_result_free(struct tire_result *result);

/* After the run: takes it, and writes the event where there is a stream. */
void tire_result_take(struct tire_result *result, const struct tire_team *team);
/* Below the table. */
void tire_result_print(const struct tire_result *result, const struct tire_team *team);

#endif
