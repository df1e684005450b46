/* What has to be set in the kernel before timerlat measures for us, and how it is put back. */
#ifndef TAUTO_POSIX_TIMERLAT_SETTINGS_H
#define TAUTO_POSIX_TIMERLAT_SETTINGS_H

#include "os/os.h"

enum { INSTANCE_BYTES = sizeof "instances/" + 255 }; /* the longest name of a folder */

/* What ended processes of ours have left is put back and removed; how many they were. */
uint32_t timerlat_settings_clean_up(int tracing);

/* Does any program measure with timerlat, or with osnoise, which has the same settings? */
bool timerlat_in_use(int tracing);

/* Makes the settings, and an instance of the trace whose path below `tracing` is then `instance`, and whose name holds
 * what they were before: whoever finds it when `lock` is not held any more can put them back. Nothing is left after a
 * failure. OS_NO_SPACE: what they were before is too long for a name. */
enum os_status timerlat_settings_make(int tracing, const int32_t *cpus, uint32_t count, int64_t period_us,
                                      char instance[INSTANCE_BYTES], int *lock);
/* Puts back what the instance's name holds, removes it, and lets go of the lock. No file of it may be open. What could
 * not be put back stays in the name, for the next one that cleans up. */
enum os_status timerlat_settings_put_back(int tracing, const char *instance, int lock);

#endif
