/*
 * The operating system as an experiment sees it. A folder beside this header implements it for one family of systems
 * (posix/ and what linux/ adds today); no experiment, load or recorder includes a system header or asks which system it
 * runs on.
 *
 * It has two sides. Threads that measure call what os/realtime.h has; main, which makes everything, drains and reports,
 * calls what os/ordinary.h has; os/both.h is for either. Headers of single services beside this one say which of their
 * calls are for the real-time side; all others are for the ordinary one.
 *
 * Priorities are levels below the highest ("highest minus k"), because systems
 * count in different directions. Attributes of a thread are given when it is
 * created, because some systems allow no later change. Times are nanoseconds on
 * one monotonic clock.
 *
 * Every call that can fail returns an os_status; OS_OK is 0.
 */
#ifndef TAUTO_OS_H
#define TAUTO_OS_H

#include "os/both.h"
#include "os/ordinary.h"
#include "os/realtime.h"

#endif
