#include "experiment/priority.h"

#include "message.h"

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
