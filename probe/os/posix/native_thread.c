/* Threads where all are of one domain: pthread_kill(3), pthread_getcpuclockid(3). */
#include "native_thread.h"

#include "interruption.h"
#include "status.h"

#include <sched.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

int native_create(struct native_thread *thread, const pthread_attr_t *attributes, bool is_realtime, void *(*start)(void *),
                  void *argument)
{
    (void)is_realtime;
    return pthread_create(&thread->handle, attributes, start, argument);
}

enum os_status native_join_domain(struct native_thread *thread, const struct os_thread_attributes *attributes)
{
    (void)attributes;
    thread->element = native_self();
    return OS_OK;
}

void native_leave_domain(struct native_thread *thread)
{
    (void)thread;
}

enum os_status native_interrupt(const struct native_thread *thread)
{
    return os_status_from_errno(pthread_kill(thread->handle, INTERRUPTION));
}

static int64_t read_ns(clockid_t clock)
{
    struct timespec used;
    return clock_gettime(clock, &used) == 0 ? (int64_t)used.tv_sec * NS_PER_S + used.tv_nsec : INT64_MIN;
}

int64_t native_cpu_time_ns(const struct native_thread *thread)
{
    clockid_t clock;
    return pthread_getcpuclockid(thread->handle, &clock) == 0 ? read_ns(clock) : INT64_MIN;
}

int64_t os_thread_cpu_time_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

void os_yield(void)
{
    sched_yield();
}
