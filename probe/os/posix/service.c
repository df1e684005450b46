/* Which services exist here: tried where a try is harmless; what every POSIX system has is taken for granted. */
#include "domain.h"
#include "status.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void do_nothing(void *argument)
{
    (void)argument;
}

static enum os_status try_policy(enum os_policy policy)
{
    const struct os_thread_attributes attributes = {
        .policy = policy,
        .below_highest = policy == OS_POLICY_DEADLINE ? 0 : os_priority_levels(policy) - 1,
        .cpu = OS_CPU_ANY,
        .runtime_ns = 1000000, /* little of a CPU, so that it is admitted; and often, as an emulator needs many of them */
        .deadline_ns = 20000000,
        .period_ns = 20000000,
    };
    struct os_thread *thread;
    const enum os_status status = os_thread_create(&thread, &attributes, do_nothing, NULL);
    return status == OS_OK ? os_thread_join(thread) : status;
}

static enum os_status try_mutex(enum os_mutex_protocol protocol)
{
    struct os_mutex *mutex;
    const enum os_status status = os_mutex_create(&mutex, protocol, 0);
    if (status == OS_OK) {
        os_mutex_destroy(mutex);
    }
    return status;
}

static enum os_status try_spin_lock(void)
{
    struct os_spin_lock *lock;
    const enum os_status status = os_spin_lock_create(&lock);
    if (status == OS_OK) {
        os_spin_lock_destroy(lock);
    }
    return status;
}

static enum os_status try_message_queue(void)
{
    struct os_message_queue *queue;
    const enum os_status status = os_message_queue_create(&queue, 1, 8);
    if (status == OS_OK) {
        os_message_queue_destroy(queue);
    }
    return status;
}

static struct os_answer answer(enum os_status status, const char *how_to_get_it)
{
    switch (status) {
    case OS_OK:
        return (struct os_answer){OS_PRESENT, ""};
    case OS_NOT_PERMITTED:
        return (struct os_answer){OS_DENIED, how_to_get_it};
    default:
        return (struct os_answer){OS_ABSENT, os_status_text(status)};
    }
}

/* For an option of POSIX that a C library may leave out: `lacks` says that it did. */
static struct os_answer answer_of_library(enum os_status status, const char *lacks)
{
    return status == OS_UNSUPPORTED ? (struct os_answer){OS_ABSENT, lacks} : answer(status, "");
}

struct os_answer os_service_available(enum os_service service)
{
    struct os_answer of_domain;
    if (domain_answers(service, &of_domain)) {
        return of_domain;
    }
    switch (service) {
    case OS_SERVICE_POLICY_FIFO:
        return answer(try_policy(OS_POLICY_FIFO), os_advice_for_policy());
    case OS_SERVICE_POLICY_RR:
        return answer(try_policy(OS_POLICY_RR), os_advice_for_policy());
    case OS_SERVICE_POLICY_DEADLINE:
        return answer(try_policy(OS_POLICY_DEADLINE), os_advice_for_policy());
    case OS_SERVICE_MUTEX_INHERIT:
        return answer_of_library(try_mutex(OS_MUTEX_INHERIT),
                                 "this C library, or the kernel, has no mutex with priority inheritance");
    case OS_SERVICE_MUTEX_PROTECT:
        return answer_of_library(try_mutex(OS_MUTEX_PROTECT), "this C library has no mutex with a priority ceiling");
    case OS_SERVICE_SPIN_LOCK:
        return answer_of_library(try_spin_lock(), "this C library has no spin lock");
    case OS_SERVICE_MESSAGE_QUEUE:
        return answer(try_message_queue(), "Message queues are denied here; see mq_overview(7).");
    case OS_SERVICE_MEMORY_LOCK:
        return os_memory_is_locked() ? answer(OS_OK, "") : answer(os_memory_lock(), os_advice_for_memory_lock());
    case OS_SERVICE_WAKE_LATENCY_LIMIT:
        if (access("/dev/cpu_dma_latency", F_OK) != 0) {
            return (struct os_answer){OS_ABSENT, "the kernel has no /dev/cpu_dma_latency"};
        }
        return access("/dev/cpu_dma_latency", W_OK) == 0
                   ? answer(OS_OK, "")
                   : answer(OS_NOT_PERMITTED, "Write access to /dev/cpu_dma_latency is needed.");
    case OS_SERVICE_THREAD_CPU_TIME:
        return os_thread_cpu_time_ns() != INT64_MIN
                   ? answer(OS_OK, "")
                   : (struct os_answer){OS_ABSENT, "this system has no CLOCK_THREAD_CPUTIME_ID"};
    default:
        return (struct os_answer){OS_PRESENT, ""};
    }
}

static void copy(char *to, size_t bytes, const char *from)
{
    const size_t length = strnlen(from, bytes - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

void os_facts_read(struct os_facts *facts)
{
    struct utsname found;
    memset(facts, 0, sizeof *facts);
    if (uname(&found) == 0) {
        copy(facts->name, sizeof facts->name, found.sysname);
        copy(facts->release, sizeof facts->release, found.release);
        copy(facts->version, sizeof facts->version, found.version);
        copy(facts->machine, sizeof facts->machine, found.machine);
    }
    domain_facts_read(facts);
}
