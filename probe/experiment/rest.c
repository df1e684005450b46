#include "rest.h"

enum { NS_PER_MS = 1000000, REST_MS = 4, LONGEST_MS = 996 };

struct rest rest_of(enum os_policy policy, int64_t budget_ns)
{
    const int64_t longest_ns = (int64_t)LONGEST_MS * NS_PER_MS;
    if (policy != OS_POLICY_FIFO && policy != OS_POLICY_RR) {
        return (struct rest){.longest_ns = 0};
    }
    return (struct rest){.longest_ns = budget_ns / 2 < longest_ns ? budget_ns / 2 : longest_ns};
}

static void count_anew(struct rest *rest)
{
    int64_t involuntary = 0;
    rest->since_ns = os_now_ns();
    rest->used_ns = os_thread_cpu_time_ns();
    os_thread_switches(&rest->waits, &involuntary);
}

static bool has_rested(const struct rest *rest, int64_t now_ns)
{
    int64_t waits = 0;
    int64_t involuntary = 0;
    os_thread_switches(&waits, &involuntary);
    const int64_t used_ns = os_thread_cpu_time_ns() - rest->used_ns;
    return waits != rest->waits && now_ns - rest->since_ns - used_ns >= (int64_t)REST_MS * NS_PER_MS;
}

void rest_when_due(struct rest *rest)
{
    if (rest->longest_ns == 0) {
        return;
    }
    const int64_t now_ns = os_now_ns();
    if (now_ns - rest->since_ns < rest->longest_ns) {
        return;
    }
    if (rest->since_ns != 0 && !has_rested(rest, now_ns)) {
        os_sleep_until(os_now_ns() + (int64_t)REST_MS * NS_PER_MS);
    }
    count_anew(rest);
}
