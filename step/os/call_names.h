/* Names of system calls. */
#ifndef TAUTO_STEP_CALL_NAMES_H
#define TAUTO_STEP_CALL_NAMES_H

#include <stdint.h>

/* NULL: one of old or newer than this program. */
const char *call_name_of(int64_t number);

#endif
