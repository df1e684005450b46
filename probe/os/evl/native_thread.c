/* Threads that attach themselves to EVL, and what EVL says of one. */
#include "os/posix/native_thread.h"

#include "os/posix/interruption.h"
#include "os/posix/status.h"

#include <evl/evl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

int native_create(struct native_thread *thread, const pthread_attr_t *attributes, bool is_realtime, void *(*start)(void *),
                  void *argument)
{
    (void)is_realtime; /* it is of Linux until it attaches itself */
    return pthread_create(&thread->handle, attributes, start, argument);
}

static struct evl_sched_attrs scheduling(const struct os_thread_attributes *attributes)
{
    struct evl_sched_attrs wanted = {.sched_policy = SCHED_WEAK};
    if (attributes->policy == OS_POLICY_FIFO || attributes->policy == OS_POLICY_RR) {
        wanted.sched_policy = attributes->policy == OS_POLICY_FIFO ? SCHED_FIFO : SCHED_RR;
        wanted.sched_priority = (int)os_priority_to_native(attributes->policy, attributes->below_highest);
    }
    return wanted;
}

enum os_status native_join_domain(struct native_thread *thread, const struct os_thread_attributes *attributes)
{
    static atomic_uint serial;
    const struct evl_sched_attrs wanted = scheduling(attributes);
    const int element = evl_attach_self("tauto-%d.%u", (int)getpid(), atomic_fetch_add(&serial, 1U));
    if (element < 0) {
        return os_status_from_errno(-element);
    }
    const int error = evl_set_schedattr(element, &wanted);
    thread->element = error == 0 ? element : -1;
    return os_status_from_errno(-error);
}

void native_leave_domain(struct native_thread *thread)
{
    thread->element = -1;
    (void)evl_detach_self();
}

/* Not by a signal, which would switch it in band. */
enum os_status native_interrupt(const struct native_thread *thread)
{
    return os_status_from_errno(thread->element >= 0 ? -evl_unblock_thread((int)thread->element)
                                                     : pthread_kill(thread->handle, INTERRUPTION));
}

/* Out of band, which Linux does not count. */
static int64_t out_of_band_ns(int element)
{
    struct evl_thread_state state;
    return evl_get_state(element, &state) == 0 ? (int64_t)state.xtime : INT64_MIN;
}

int64_t native_cpu_time_ns(const struct native_thread *thread)
{
    clockid_t clock;
    struct timespec used;
    if (pthread_getcpuclockid(thread->handle, &clock) != 0 || clock_gettime(clock, &used) != 0) {
        return INT64_MIN;
    }
    const int64_t core_ns = thread->element >= 0 ? out_of_band_ns((int)thread->element) : 0;
    return (int64_t)used.tv_sec * NS_PER_S + used.tv_nsec + (core_ns > 0 ? core_ns : 0);
}

/* Of the calling thread, without a call of Linux's: a thread of EVL's has done all its work out of band. */
int64_t os_thread_cpu_time_ns(void)
{
    return out_of_band_ns(evl_get_self());
}

/* It counts them together. */
void os_thread_switches(int64_t *voluntary, int64_t *involuntary)
{
    *voluntary = INT64_MIN;
    *involuntary = INT64_MIN;
}

void os_yield(void)
{
    (void)evl_yield();
}
