/* Threads that register themselves with RTAI, and what it does to one. */
#include "os/posix/native_thread.h"

#include "os/posix/interruption.h"
#include "os/posix/linux.h"
#include "os/posix/status.h"

#include <rtai_lxrt.h>
#include <signal.h>

enum { CPUS_OF_A_TASK = 16, EVERY_CPU = 0xffff, OF_NO_PRIORITY = 999 };

static RT_TASK *task_of(const struct native_thread *thread)
{
    return (RT_TASK *)thread->element; /* NOLINT(performance-no-int-to-ptr): -1 where there is none */
}

int native_create(struct native_thread *thread, const pthread_attr_t *attributes, bool is_realtime, void *(*start)(void *),
                  void *argument)
{
    (void)is_realtime; /* it is of Linux until it registers itself */
    return pthread_create(&thread->handle, attributes, start, argument);
}

/* RTAI counts priorities from 0, the highest; one without stays soft. */
enum os_status native_join_domain(struct native_thread *thread, const struct os_thread_attributes *attributes)
{
    const bool is_urgent = attributes->policy == OS_POLICY_FIFO || attributes->policy == OS_POLICY_RR;
    const int cpus = attributes->cpu >= 0 ? 1 << attributes->cpu : EVERY_CPU;
    if (attributes->cpu >= CPUS_OF_A_TASK) {
        return OS_INVALID;
    }
    RT_TASK *const task = rt_task_init_schmod(rt_get_name(NULL), is_urgent ? attributes->below_highest : OF_NO_PRIORITY, 0, 0,
                                              linux_policy(attributes->policy), cpus);
    if (task == NULL) {
        return OS_NOT_PERMITTED;
    }
    thread->element = (intptr_t)task;
    if (is_urgent) {
        rt_make_hard_real_time();
    }
    return OS_OK;
}

void native_leave_domain(struct native_thread *thread)
{
    RT_TASK *const task = task_of(thread);
    thread->element = -1;
    rt_make_soft_real_time();
    (void)rt_task_delete(task);
}

/* Whatever it waits for. */
enum os_status native_interrupt(const struct native_thread *thread)
{
    if (thread->element == -1) {
        return os_status_from_errno(pthread_kill(thread->handle, INTERRUPTION));
    }
    (void)rt_task_masked_unblock(task_of(thread), ~(unsigned long)RT_SCHED_READY); /* an error where it does not wait */
    return OS_OK;
}

enum os_status native_suspend(const struct native_thread *thread)
{
    return rt_task_suspend(task_of(thread)) >= 0 ? OS_OK : OS_FAILED;
}

/* RTAI would count it in favour of the next suspension, where the task is not suspended yet. */
enum os_status native_resume(const struct native_thread *thread)
{
    RT_TASK *const task = task_of(thread);
    return (rt_get_task_state(task) & RT_SCHED_SUSPENDED) == 0 || rt_task_resume(task) >= 0 ? OS_OK : OS_FAILED;
}

int64_t native_cpu_time_ns(const struct native_thread *thread)
{
    (void)thread;
    return INT64_MIN;
}

int64_t os_thread_cpu_time_ns(void)
{
    return INT64_MIN;
}

void os_thread_switches(int64_t *voluntary, int64_t *involuntary)
{
    *voluntary = INT64_MIN;
    *involuntary = INT64_MIN;
}

void os_yield(void)
{
    rt_task_yield();
}
