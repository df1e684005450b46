/* Names of system calls. */
#ifndef TAUTO_STEP_CALL_NAMES_H
#define TAUTO_STEP_CALL_NAMES_H

#include <stdint.h>

/* NULL: a rare one. */
const char *call_name_of(int64_t number);

#endif
