/*
 * Policies and priorities. Windows gives threads of one priority turns, so that the policy is RR and there is no FIFO. In
 * the class REALTIME, which the whole process has or has not, they are 16 to 31; a user without that right gets the class
 * HIGH, 12 to 15, which the system also gives to others for a while. Threads that do not measure are as low as the class
 * lets them be and still run beside other programs: 16 and 11.
 */
#include "win32.h"

enum { REALTIME_HIGHEST = 31, REALTIME_LOWEST = 16, REALTIME_BASE = 24, HIGH_HIGHEST = 15, HIGH_LOWEST = 12, HIGH_BASE = 13 };

static bool may_be_realtime;
static SRWLOCK guard = SRWLOCK_INIT;
static int raised; /* threads that want the class */

void win32_priority_begin(void)
{
    HANDLE own = GetCurrentProcess();
    const DWORD before = GetPriorityClass(own);
    may_be_realtime = SetPriorityClass(own, REALTIME_PRIORITY_CLASS) && GetPriorityClass(own) == REALTIME_PRIORITY_CLASS;
    (void)SetPriorityClass(own, before != 0 ? before : NORMAL_PRIORITY_CLASS);
}

bool win32_may_be_realtime(void)
{
    return may_be_realtime;
}

bool win32_class_is_raised(void)
{
    AcquireSRWLockShared(&guard);
    const bool is_so = raised > 0;
    ReleaseSRWLockShared(&guard);
    return is_so;
}

static int below_all(void)
{
    return may_be_realtime ? THREAD_PRIORITY_IDLE : THREAD_PRIORITY_LOWEST;
}

static void put_below(struct os_thread *thread)
{
    if (thread->attributes.policy == OS_POLICY_OTHER) {
        (void)SetThreadPriority(thread->handle, below_all());
    }
}

static void put_back(struct os_thread *thread)
{
    if (thread->attributes.policy == OS_POLICY_OTHER) {
        (void)SetThreadPriority(thread->handle, THREAD_PRIORITY_NORMAL);
    }
}

/* Those that do not measure go down first, so that none of them is high for a moment. */
bool win32_class_raise(void)
{
    bool done = true;
    AcquireSRWLockExclusive(&guard);
    if (raised == 0) {
        const DWORD wanted = may_be_realtime ? REALTIME_PRIORITY_CLASS : HIGH_PRIORITY_CLASS;
        win32_for_each_thread(put_below);
        done = SetPriorityClass(GetCurrentProcess(), wanted) && GetPriorityClass(GetCurrentProcess()) == wanted;
        if (!done) {
            (void)SetPriorityClass(GetCurrentProcess(), NORMAL_PRIORITY_CLASS);
            win32_for_each_thread(put_back);
        }
    }
    raised += done ? 1 : 0;
    ReleaseSRWLockExclusive(&guard);
    return done;
}

void win32_class_lower(void)
{
    AcquireSRWLockExclusive(&guard);
    if (--raised == 0) {
        (void)SetPriorityClass(GetCurrentProcess(), NORMAL_PRIORITY_CLASS);
        win32_for_each_thread(put_back);
    }
    ReleaseSRWLockExclusive(&guard);
}

const char *os_policy_name(enum os_policy policy)
{
    static const char *const names[] = {
        [OS_POLICY_OTHER] = "other", [OS_POLICY_FIFO] = "fifo", [OS_POLICY_RR] = "rr", [OS_POLICY_DEADLINE] = "deadline"};
    return names[policy];
}

int32_t os_priority_levels(enum os_policy policy)
{
    if (policy != OS_POLICY_RR) {
        return 0;
    }
    return may_be_realtime ? REALTIME_HIGHEST - REALTIME_LOWEST + 1 : HIGH_HIGHEST - HIGH_LOWEST + 1;
}

int64_t os_priority_to_native(enum os_policy policy, int32_t below_highest)
{
    return policy == OS_POLICY_RR ? (may_be_realtime ? REALTIME_HIGHEST : HIGH_HIGHEST) - below_highest : 0;
}

enum os_status os_priority_from_native(enum os_policy policy, int64_t native, int32_t *below_highest)
{
    const int64_t highest = os_priority_to_native(policy, 0);
    if (policy != OS_POLICY_RR || native > highest || native <= highest - os_priority_levels(policy)) {
        return OS_INVALID;
    }
    *below_highest = (int32_t)(highest - native);
    return OS_OK;
}

/* SetThreadPriority counts from the middle of the class, but for its two ends. */
static int relative(int64_t native)
{
    if (!may_be_realtime) {
        return (int)native - HIGH_BASE;
    }
    return native == REALTIME_HIGHEST  ? THREAD_PRIORITY_TIME_CRITICAL
           : native == REALTIME_LOWEST ? THREAD_PRIORITY_IDLE
                                       : (int)native - REALTIME_BASE;
}

bool win32_set_priority(HANDLE thread, enum os_policy policy, int32_t below_highest)
{
    if (policy != OS_POLICY_RR) {
        return SetThreadPriority(thread, win32_class_is_raised() ? below_all() : THREAD_PRIORITY_NORMAL) != 0;
    }
    (void)SetThreadPriorityBoost(thread, TRUE); /* no priority for a while that was not asked for */
    return SetThreadPriority(thread, relative(os_priority_to_native(policy, below_highest))) != 0;
}

static int64_t native_of(DWORD class, int found)
{
    if (class == REALTIME_PRIORITY_CLASS) {
        return found == THREAD_PRIORITY_TIME_CRITICAL ? REALTIME_HIGHEST
               : found == THREAD_PRIORITY_IDLE        ? REALTIME_LOWEST
                                                      : REALTIME_BASE + found;
    }
    return found == THREAD_PRIORITY_TIME_CRITICAL ? HIGH_HIGHEST : HIGH_BASE + found;
}

/* A thread of an ordinary class has no real-time priority: as on other systems that is 0. */
void os_thread_read_back(struct os_thread_obtained *obtained)
{
    const DWORD class = GetPriorityClass(GetCurrentProcess());
    const int found = GetThreadPriority(GetCurrentThread());
    const bool has_priority = (class == REALTIME_PRIORITY_CLASS || class == HIGH_PRIORITY_CLASS) &&
                              win32_self()->attributes.policy == OS_POLICY_RR && found != THREAD_PRIORITY_ERROR_RETURN;
    GROUP_AFFINITY affinity;
    *obtained = (struct os_thread_obtained){
        .policy = has_priority ? OS_POLICY_RR : OS_POLICY_OTHER,
        .native_priority = has_priority ? native_of(class, found) : 0,
        .cpu = GetThreadGroupAffinity(GetCurrentThread(), &affinity) ? win32_cpu_of(&affinity) : INT64_MIN,
        .timer_slack_ns = INT64_MIN,
        .runtime_ns = INT64_MIN,
        .deadline_ns = INT64_MIN,
        .period_ns = INT64_MIN,
    };
}

void os_thread_become_ordinary(void)
{
    struct os_thread *const self = win32_self();
    self->attributes.policy = OS_POLICY_OTHER;
    (void)win32_set_priority(self->handle, OS_POLICY_OTHER, 0);
}

const char *os_advice_for_policy(void)
{
    return "Run it as administrator (the right is called \"Increase scheduling priority\").";
}
