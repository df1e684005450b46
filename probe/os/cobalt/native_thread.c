/* Threads of Cobalt, and beside them Linux's own; what Cobalt says of a thread: its thread statistics. */
#include "os/posix/native_thread.h"

#include "os/posix/interruption.h"
#include "os/posix/status.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/cobalt.h>
#include <time.h>

enum { NS_PER_S = 1000000000, SELF = 0 };

int native_create(struct native_thread *thread, const pthread_attr_t *attributes, bool is_realtime, void *(*start)(void *),
                  void *argument)
{
    return is_realtime ? pthread_create(&thread->handle, attributes, start, argument)
                       : __STD(pthread_create(&thread->handle, attributes, start, argument));
}

/* It was born there. */
enum os_status native_join_domain(struct native_thread *thread, const struct os_thread_attributes *attributes)
{
    (void)thread;
    (void)attributes;
    return OS_OK;
}

void native_leave_domain(struct native_thread *thread)
{
    (void)thread;
}

/* A signal would take it out of primary mode; to release it does not. One of Linux's is none that Cobalt knows. */
enum os_status native_interrupt(const struct native_thread *thread)
{
    const int error = pthread_kill(thread->handle, SIGRELS);
    return os_status_from_errno(error != 0 ? __STD(pthread_kill(thread->handle, INTERRUPTION)) : 0);
}

enum os_status native_suspend(const struct native_thread *thread)
{
    return os_status_from_errno(pthread_kill(thread->handle, SIGSUSP));
}

enum os_status native_resume(const struct native_thread *thread)
{
    return os_status_from_errno(pthread_kill(thread->handle, SIGRESM));
}

/* In primary mode, which Linux does not count; 0 of a thread of Linux's. */
static int64_t in_primary_mode_ns(pid_t thread)
{
    struct cobalt_threadstat stat;
    return cobalt_thread_stat(thread, &stat) == 0 ? (int64_t)stat.xtime : 0;
}

int64_t native_cpu_time_ns(const struct native_thread *thread)
{
    clockid_t clock;
    struct timespec used;
    if (pthread_getcpuclockid(thread->handle, &clock) != 0 || __STD(clock_gettime(clock, &used)) != 0) {
        return INT64_MIN;
    }
    const pid_t number = cobalt_thread_pid(thread->handle);
    return (int64_t)used.tv_sec * NS_PER_S + used.tv_nsec + (number > 0 ? in_primary_mode_ns(number) : 0);
}

/* Of the calling thread, without a call that leaves primary mode: a thread of Cobalt's has done all its work there. */
int64_t os_thread_cpu_time_ns(void)
{
    struct cobalt_threadstat stat;
    return cobalt_thread_stat(SELF, &stat) == 0 ? (int64_t)stat.xtime : INT64_MIN;
}

/* It counts them together. */
void os_thread_switches(int64_t *voluntary, int64_t *involuntary)
{
    *voluntary = INT64_MIN;
    *involuntary = INT64_MIN;
}

void os_yield(void)
{
    sched_yield();
}
