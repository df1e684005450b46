#include "experiment/priority.h"

#include "experiment/conditions.h"
#include "message.h"

#include <inttypes.h>

enum { USUAL_BELOW_HIGHEST = 9 };

static bool choose_none(enum os_policy policy, bool given, int32_t levels)
{
    if (levels > 1) {
        refuse(EXIT_USAGE, "--policy %s has no priorities, and this experiment needs %d of them.\nUse fifo or rr.",
               os_policy_name(policy), levels);
        return false;
    }
    if (given) {
        refuse(EXIT_USAGE, "--priority contradicts --policy %s, which has no priorities.\nLeave one out.",
               os_policy_name(policy));
        return false;
    }
    return true;
}

bool priority_choose(enum os_policy policy, bool given, int32_t levels, int64_t *priority, int32_t *below_highest)
{
    const int32_t available = os_priority_levels(policy);
    if (available == 0) {
        *priority = 0;
        return choose_none(policy, given, levels);
    }
    if (levels > available) {
        refuse(EXIT_USAGE, "--policy %s has %d priorities, and this needs %d of them.\nTake fewer, or --policy other.",
               os_policy_name(policy), available, levels);
        return false;
    }
    if (!given) {
        *below_highest = available > USUAL_BELOW_HIGHEST + levels ? USUAL_BELOW_HIGHEST : 0;
        *priority = os_priority_to_native(policy, *below_highest);
        return true;
    }
    if (os_priority_from_native(policy, *priority, below_highest) != OS_OK || *below_highest + levels > available) {
        const long long lowest = os_priority_to_native(policy, available - levels);
        refuse(EXIT_USAGE,
               levels == 1 ? "--priority %lld: here policy %s takes %lld to %lld."
                           : "--priority %lld: here policy %s takes %lld to %lld, because the %d priorities of this "
                             "experiment lie at and below it.",
               (long long)*priority, os_policy_name(policy), lowest, (long long)os_priority_to_native(policy, 0), levels);
        return false;
    }
    return true;
}

int priority_refuse_thread(enum os_policy policy, int64_t priority, enum os_status status)
{
    const char *const name = os_policy_name(policy);
    switch (status) {
    case OS_NOT_PERMITTED:
        if (policy == OS_POLICY_DEADLINE) {
            return refuse(EXIT_NOT_PERMITTED,
                          "policy deadline is not permitted: either to this user, or because the process is kept to some "
                          "of the CPUs (taskset); a deadline thread must be free to run on all of its cpuset.\n%s",
                          os_advice_for_policy());
        }
        return refuse(EXIT_NOT_PERMITTED, "policy %s with priority %" PRId64 " is not permitted to this user.\n%s %s",
                      name, priority, os_advice_for_policy(), advice_for_ordinary_policy);
    case OS_INVALID:
        if (policy == OS_POLICY_DEADLINE) {
            return refuse(EXIT_USAGE, "the system does not take policy deadline with this period and runtime.\n"
                                      "Linux wants "
                                      "a runtime of 1024 ns or more and a period between sched_deadline_period_min_us "
                                      "(100 us as it comes) and sched_deadline_period_max_us.");
        }
        return refuse(EXIT_USAGE, "the system does not take policy %s with priority %" PRId64 " on these CPUs.\n"
                                                                                              "Choose others.",
                      name, priority);
    case OS_BUSY:
        return refuse(EXIT_FAILED, "there is not enough time left for this deadline thread: others have been promised it.\n"
                                   "Lengthen the period, or shorten --runtime.");
    case OS_TIMED_OUT:
        return refuse(EXIT_FAILED, "a measuring thread did not come to run: its CPU is kept busy by threads of higher "
                                   "priority.");
    default:
        return refuse(EXIT_FAILED, "a measuring thread can't be started: %s.", os_status_text(status));
    }
}
