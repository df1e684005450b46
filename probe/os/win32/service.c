/* What there is on Windows, and why the rest is not. */
#include "win32.h"

static const struct os_answer present = {OS_PRESENT, ""};

static struct os_answer absent(const char *why)
{
    return (struct os_answer){OS_ABSENT, why};
}

static void do_nothing(void *argument)
{
    (void)argument;
}

static struct os_answer try_priority(void)
{
    const struct os_thread_attributes lowest = {
        .policy = OS_POLICY_RR, .below_highest = os_priority_levels(OS_POLICY_RR) - 1, .cpu = OS_CPU_ANY};
    struct os_thread *thread;
    enum os_status status = os_thread_create(&thread, &lowest, do_nothing, NULL);
    status = status == OS_OK ? os_thread_join(thread) : status;
    return status == OS_OK ? present
                           : (struct os_answer){status == OS_NOT_PERMITTED ? OS_DENIED : OS_ABSENT, os_advice_for_policy()};
}

static struct os_answer try_memory_lock(void)
{
    const enum os_status status = os_memory_is_locked() ? OS_OK : os_memory_lock();
    return status == OS_OK ? present : (struct os_answer){OS_DENIED, os_advice_for_memory_lock()};
}

struct os_answer os_service_available(enum os_service service)
{
    switch (service) {
    case OS_SERVICE_POLICY_FIFO:
        return absent("Windows gives threads of one priority turns: the policy is rr");
    case OS_SERVICE_POLICY_RR:
        return try_priority();
    case OS_SERVICE_POLICY_DEADLINE:
        return absent("Windows has no scheduling by deadlines");
    case OS_SERVICE_ABSOLUTE_SLEEP:
        return absent("timers of Windows count from now: what is left is programmed, and the rows have both instants");
    case OS_SERVICE_MUTEX_INHERIT:
        return absent("Windows has no lock whose owner inherits a priority");
    case OS_SERVICE_MUTEX_PROTECT:
        return absent("Windows has no lock with a priority ceiling");
    case OS_SERVICE_SPIN_LOCK:
        return absent("Windows has spin locks for drivers alone");
    case OS_SERVICE_MESSAGE_QUEUE:
        return absent("Windows has no message queue between threads; named pipes and mailslots are ways of 'response'");
    case OS_SERVICE_MEMORY_LOCK:
        return try_memory_lock();
    case OS_SERVICE_WAKE_LATENCY_LIMIT:
        return absent("Windows has no limit on the wake-up latency of idle CPUs that a program can ask for");
    case OS_SERVICE_INBAND_SWITCHES:
        return absent("this system has one domain only, which no thread can leave");
    default:
        return present;
    }
}

const char *os_advice_for_memory_lock(void)
{
    return "The right \"Increase a process working set\" is needed. Or measure with pageable memory: --no-memory-lock.";
}
