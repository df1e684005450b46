/* The clock as the measuring threads have it: its cost and step on each one's CPU, with its policy and priority, before
 * and after the run. */
#ifndef TAUTO_RULER_H
#define TAUTO_RULER_H

#include "record/recorder.h"

/* Before the threads start; where the system refuses it for a source, its own thread will be refused, too. */
void ruler_take_before(struct recorder *recorder);
/* When they have ended. */
void ruler_take_after(struct recorder *recorder);

/* "clock" of the header and of the footer: where sources have one of their own, the slowest to read. */
struct clock_calibration ruler_slowest(const struct recorder *recorder, bool after);
/* "clock" of a source in the header; nothing where it has none. */
void ruler_to_json(struct json *json, const struct source *source);
/* "clocks" of the footer. */
void rulers_to_json(struct json *json, const struct recorder *recorder);

#endif
