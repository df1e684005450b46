/* The rows of experiments that are measured in kernel space too: the same columns and measures there and here. */
#ifndef TAUTO_SCHEMAS_H
#define TAUTO_SCHEMAS_H

#include "record/recorder.h"

extern const struct schema interrupt_schema; /* scheduled, wake, handler */
extern const struct schema period_schema;    /* scheduled, expected, wake */
extern const struct schema response_schema;  /* before, after, received, answered, repetition, scheduled */

#endif
