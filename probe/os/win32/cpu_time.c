/* CPU time of threads. */
#include "win32.h"

__extension__ typedef unsigned __int128 uint128;

enum { NS_PER_UNIT = 100, SCALE_BITS = 16 };

/* Of one nanosecond, times 2^16; 0: threads do not tell their cycles here. */
static uint64_t cycles_scale;

/*
 * The system counts a thread's cycles, at the rate of the CPU's counter, and does not say what that is: so it is measured,
 * over windows of 2 ms of which the best one has been interrupted least. Without such a count there is GetThreadTimes, in
 * steps of the system's clock interrupt.
 */
void win32_cpu_time_begin(void)
{
    enum { WINDOWS = 8, WINDOW_NS = 2000000 };
    for (int i = 0; i < WINDOWS; i++) {
        ULONG64 before = 0;
        ULONG64 after = 0;
        int64_t now_ns = os_now_ns();
        const int64_t begun_ns = now_ns;
        if (!QueryThreadCycleTime(GetCurrentThread(), &before)) {
            return;
        }
        while (now_ns - begun_ns < WINDOW_NS) {
            now_ns = os_now_ns();
        }
        if (!QueryThreadCycleTime(GetCurrentThread(), &after) || after <= before) {
            return;
        }
        const uint64_t found = ((after - before) << SCALE_BITS) / (uint64_t)(now_ns - begun_ns);
        cycles_scale = found > cycles_scale ? found : cycles_scale;
    }
}

int64_t win32_cpu_time_ns(HANDLE thread)
{
    ULONG64 cycles = 0;
    if (cycles_scale != 0 && QueryThreadCycleTime(thread, &cycles)) {
        return (int64_t)(((uint128)cycles << SCALE_BITS) / cycles_scale);
    }
    FILETIME made;
    FILETIME ended;
    FILETIME kernel;
    FILETIME user;
    if (!GetThreadTimes(thread, &made, &ended, &kernel, &user)) {
        return INT64_MIN;
    }
    const uint64_t units = ((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) +
                           ((uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime);
    return (int64_t)(units * NS_PER_UNIT);
}

int64_t os_thread_cpu_time_ns(void)
{
    return win32_cpu_time_ns(GetCurrentThread());
}

int64_t os_thread_cpu_time_of(const struct os_thread *thread)
{
    return win32_cpu_time_ns(thread->handle);
}

void os_counts_read(struct os_counts *counts, const struct os_thread *thread, int32_t cpu)
{
    (void)thread;
    (void)cpu;
    *counts = (struct os_counts){INT64_MIN, INT64_MIN, INT64_MIN};
}

void os_thread_switches(int64_t *voluntary, int64_t *involuntary)
{
    *voluntary = INT64_MIN;
    *involuntary = INT64_MIN;
}

int64_t os_thread_budget_overruns(void)
{
    return INT64_MIN;
}
