/* Threads: creation with policy, priority, affinity and stack; reading back what was obtained. */
#include "os/identity.h"

#include "interruption.h"
#include "linux.h"
#include "native_thread.h"
#include "status.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { DEFAULT_STACK_BYTES = 256 * 1024, CPUS_KNOWN = 4096 };
static const int64_t start_patience_ns = 10000000000;

/* Whoever comes first decides: the thread that it runs, or its creator that nobody waits for it any more. */
enum standing { STANDING_AWAITED, STANDING_STARTED, STANDING_ABANDONED };

struct os_thread {
    struct native_thread native;
    struct os_thread_attributes attributes;
    bool is_realtime;
    os_thread_entry entry;
    void *argument;
    struct os_notice *started;
    enum os_status start_status;
    int64_t number; /* set before `started` is posted */
    atomic_int standing; /* enum standing */
};

const char *os_policy_name(enum os_policy policy)
{
    switch (policy) {
    case OS_POLICY_FIFO:
        return "fifo";
    case OS_POLICY_RR:
        return "rr";
    case OS_POLICY_DEADLINE:
        return "deadline";
    case OS_POLICY_OTHER:
        break;
    }
    return "other";
}

static bool has_priorities(enum os_policy policy)
{
    return policy == OS_POLICY_FIFO || policy == OS_POLICY_RR;
}

int32_t os_priority_levels(enum os_policy policy)
{
    if (!has_priorities(policy)) {
        return 0;
    }
    const int native = linux_policy(policy);
    return sched_get_priority_max(native) - sched_get_priority_min(native) + 1;
}

int64_t os_priority_to_native(enum os_policy policy, int32_t below_highest)
{
    return has_priorities(policy) ? sched_get_priority_max(linux_policy(policy)) - below_highest : 0;
}

/* A policy without priorities of ours may still want a number: 0 on Linux, 1 on QNX. */
int linux_priority(enum os_policy policy, int32_t below_highest)
{
    return has_priorities(policy) ? (int)os_priority_to_native(policy, below_highest)
                                  : sched_get_priority_min(linux_policy(policy));
}

enum os_status os_priority_from_native(enum os_policy policy, int64_t native, int32_t *below_highest)
{
    const int64_t highest = os_priority_to_native(policy, 0);
    if (!has_priorities(policy) || native > highest || native <= highest - os_priority_levels(policy)) {
        return OS_INVALID;
    }
    *below_highest = (int32_t)(highest - native);
    return OS_OK;
}

/* What can only be set by the thread itself happens here, before its entry runs. */
static void *start(void *argument)
{
    struct os_thread *const thread = argument;
    const struct os_thread_attributes *const wanted = &thread->attributes;

    thread->number = os_thread_number();
    linux_thread_set_name(wanted->name);
    if (wanted->cpu != OS_CPU_ANY) {
        thread->start_status = linux_thread_set_cpu(wanted->cpu);
    }
    if (thread->start_status == OS_OK && wanted->policy == OS_POLICY_DEADLINE) {
        thread->start_status =
            linux_thread_set_deadline(wanted->runtime_ns, wanted->deadline_ns, wanted->period_ns);
    }
    if (thread->start_status == OS_OK && thread->is_realtime) {
        thread->start_status = native_join_domain(&thread->native, wanted);
    }
    int awaited = STANDING_AWAITED;
    const bool is_awaited = atomic_compare_exchange_strong(&thread->standing, &awaited, STANDING_STARTED);
    const bool runs = thread->start_status == OS_OK && is_awaited;
    os_notice_post(thread->started); /* a creator that waits may free everything as soon as it has joined */
    if (runs) {
        thread->entry(thread->argument);
        if (thread->is_realtime) {
            native_leave_domain(&thread->native);
        }
    }
    return NULL;
}

static int set_attributes(pthread_attr_t *attributes, const struct os_thread_attributes *wanted)
{
    size_t stack_bytes = wanted->stack_bytes != 0 ? wanted->stack_bytes : (size_t)DEFAULT_STACK_BYTES;
    if (stack_bytes < (size_t)PTHREAD_STACK_MIN) {
        stack_bytes = (size_t)PTHREAD_STACK_MIN;
    }
    int error = pthread_attr_setstacksize(attributes, stack_bytes);
    if (error == 0) {
        error = pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
    }
    if (error == 0) {
        error = pthread_attr_setschedpolicy(attributes, linux_policy(wanted->policy));
    }
    if (error == 0) {
        const struct sched_param parameter = {.sched_priority = linux_priority(wanted->policy, wanted->below_highest)};
        error = pthread_attr_setschedparam(attributes, &parameter);
    }
    return error;
}

/* The thread that listens takes the signals. A measuring thread takes two: the one that interrupts its
 * sleep, and the watchdog's, which must reach the very thread that leaves no time to any other. */
static int create_without_signals(struct os_thread *thread, const pthread_attr_t *attributes)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigdelset(&all, INTERRUPTION);
    sigdelset(&all, SIGXCPU);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = native_create(&thread->native, attributes, thread->is_realtime, start, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static atomic_bool has_thread[CPUS_KNOWN];

bool os_cpu_has_thread(int32_t cpu)
{
    return cpu >= 0 && cpu < CPUS_KNOWN && atomic_load(&has_thread[cpu]);
}

static enum os_status create(struct os_thread **thread, const struct os_thread_attributes *attributes,
                             os_thread_entry entry, void *argument, bool is_realtime)
{
    struct os_thread *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        return OS_NO_MEMORY;
    }
    made->attributes = *attributes;
    made->entry = entry;
    made->argument = argument;
    made->is_realtime = is_realtime;
    made->native.element = -1;
    enum os_status status = os_notice_create(&made->started);
    if (status == OS_OK) {
        pthread_attr_t native;
        int error = pthread_attr_init(&native);
        if (error == 0) {
            error = set_attributes(&native, attributes);
            if (error == 0) {
                error = create_without_signals(made, &native);
            }
            pthread_attr_destroy(&native);
        }
        status = os_status_from_errno(error);
    }
    if (status == OS_OK) {
        status = os_notice_wait_for(made->started, start_patience_ns);
        int awaited = STANDING_AWAITED;
        if (status != OS_OK && atomic_compare_exchange_strong(&made->standing, &awaited, STANDING_ABANDONED)) {
            os_threads_unpin();  /* so that it can come to its end elsewhere */
            return OS_TIMED_OUT; /* it still refers to `made`, whenever it comes to run */
        }
        status = made->start_status;
        if (status != OS_OK) {
            pthread_join(made->native.handle, NULL);
        }
    }
    if (status != OS_OK) {
        os_notice_destroy(made->started);
        free(made);
        return status;
    }
    if (attributes->cpu >= 0 && attributes->cpu < CPUS_KNOWN) {
        atomic_store(&has_thread[attributes->cpu], true);
    }
    *thread = made;
    return OS_OK;
}

enum os_status os_thread_create(struct os_thread **thread, const struct os_thread_attributes *attributes,
                                os_thread_entry entry, void *argument)
{
    return create(thread, attributes, entry, argument, true);
}

enum os_status os_thread_create_ordinary(struct os_thread **thread, const struct os_thread_attributes *attributes,
                                         os_thread_entry entry, void *argument)
{
    return create(thread, attributes, entry, argument, false);
}

enum os_status os_thread_join(struct os_thread *thread)
{
    const int error = pthread_join(thread->native.handle, NULL);
    if (error == 0) {
        os_notice_destroy(thread->started);
        free(thread);
    }
    return os_status_from_errno(error);
}

int64_t os_thread_number_of(const struct os_thread *thread)
{
    return thread->number;
}

void os_thread_stand_for(struct os_thread *thread, int64_t number)
{
    thread->number = number;
}

int64_t os_thread_cpu_time_of(const struct os_thread *thread)
{
    return native_cpu_time_ns(&thread->native);
}

void os_thread_become_ordinary(void)
{
    const struct sched_param none = {.sched_priority = linux_priority(OS_POLICY_OTHER, 0)};
    (void)pthread_setschedparam(pthread_self(), SCHED_OTHER, &none); /* giving up is always permitted */
}

enum os_status os_thread_interrupt(struct os_thread *thread)
{
    return native_interrupt(&thread->native);
}

enum os_status os_thread_suspend(struct os_thread *thread)
{
    return native_suspend(&thread->native);
}

enum os_status os_thread_resume(struct os_thread *thread)
{
    return native_resume(&thread->native);
}

void os_thread_read_back(struct os_thread_obtained *obtained)
{
    linux_thread_read_back(obtained);
}
