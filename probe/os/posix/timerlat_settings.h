/* What has to be set in the kernel before timerlat measures for us, and how it is put back. */
#ifndef TAUTO_POSIX_TIMERLAT_SETTINGS_H
#define TAUTO_POSIX_TIMERLAT_SETTINGS_H

#include "os/os.h"

enum { INSTANCE_BYTES = 320 };

/* What killed processes of ours have left is put back and removed; how many they were. */
uint32_t timerlat_settings_clean_up(int tracing);

/* Does any program measure with timerlat, or with osnoise, which has the same settings? */
bool timerlat_in_use(int tracing);

/* Makes the settings, and an instance of the trace whose path below `tracing` is then `instance`, and whose name holds
 * what they were before: whoever finds it can put them back. Nothing is left after a failure. */
enum os_status timerlat_settings_make(int tracing, const int32_t *cpus, uint32_t count, int64_t period_us,
                                      char instance[INSTANCE_BYTES]);
/* Puts back what the instance's name holds, and removes it. No file of it may be open. */
enum os_status timerlat_settings_put_back(int tracing, const char *instance);

#endif
