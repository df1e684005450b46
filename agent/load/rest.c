#include "load/rest.h"

enum { MOST_SHARE_PERCENT = 75 };
static const int64_t look_interval_ns = 2000000;
static const int64_t account_ns = 100000000; /* who did nothing for long may not make up for it at once */
static const int64_t longest_sleep_ns = 10000000;

struct rest rest_begin(void)
{
    const int64_t now_ns = os_now_ns();
    return (struct rest){
        .begin_ns = now_ns,
        .used_before_ns = os_thread_cpu_time_ns(),
        .look_again_ns = now_ns + look_interval_ns,
    };
}

/* Threads on the CPU that has most of them. */
static int64_t most_on_one_cpu(const struct load_run *run)
{
    return ((int64_t)run->threads + run->cpus.count - 1) / run->cpus.count;
}

void rest_until(const struct load_thread *thread, int64_t instant_ns)
{
    while (os_now_ns() < instant_ns && !load_must_end(thread)) {
        const int64_t soon_ns = os_now_ns() + longest_sleep_ns;
        os_sleep_until(instant_ns < soon_ns ? instant_ns : soon_ns);
    }
}

void rest_when_due(struct rest *rest, const struct load_thread *thread)
{
    const int64_t now_ns = os_now_ns();
    if (thread->run->policy == OS_POLICY_OTHER || now_ns < rest->look_again_ns) {
        return;
    }
    const int64_t used_ns = os_thread_cpu_time_ns() - rest->used_before_ns;
    rest_until(thread, rest->begin_ns + used_ns * 100 / MOST_SHARE_PERCENT * most_on_one_cpu(thread->run));
    rest->look_again_ns = os_now_ns() + look_interval_ns;
    if (now_ns - rest->begin_ns > account_ns) {
        *rest = rest_begin();
    }
}
