/* The measuring clock, QueryPerformanceCounter, and sleeping by it: waitable timers. */
#include "win32.h"

#include "os/programmed.h"

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION /* older headers */
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 2
#endif

enum { NS_PER_S = 1000000000, NS_PER_UNIT = 100, SCALE_BITS = 32 };

__extension__ typedef unsigned __int128 uint128;

/* Nanoseconds of a tick, times 2^32: exact at 10 MHz, which Windows has nearly everywhere; else within 1 in 10^9. */
static uint64_t scale;
static uint64_t frequency;

bool win32_clock_begin(void)
{
    LARGE_INTEGER found;
    if (!QueryPerformanceFrequency(&found) || found.QuadPart <= 0) {
        return false;
    }
    frequency = (uint64_t)found.QuadPart;
    scale = (((uint64_t)NS_PER_S << SCALE_BITS) + frequency / 2) / frequency;
    return true;
}

int64_t os_now_ns(void)
{
    LARGE_INTEGER ticks;
    QueryPerformanceCounter(&ticks);
    return (int64_t)((uint128)(uint64_t)ticks.QuadPart * scale >> SCALE_BITS);
}

/* Since 1970, as everywhere. Windows counts from 1601, which nanoseconds of 63 bits don't reach. */
static int64_t ns_of(FILETIME time)
{
    static const int64_t units_to_1970 = 116444736000000000;
    return ((int64_t)((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime) - units_to_1970) * NS_PER_UNIT;
}

/* ---- Sleeping ----------------------------------------------------------- */

static atomic_bool has_ordinary_timer;

bool win32_timer_is_fine(void)
{
    return !atomic_load(&has_ordinary_timer);
}

HANDLE win32_timer_create(void)
{
    HANDLE fine =
        CreateWaitableTimerExW(NULL, NULL, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, TIMER_ALL_ACCESS);
    if (fine != NULL) {
        return fine;
    }
    atomic_store(&has_ordinary_timer, true);
    return CreateWaitableTimerExW(NULL, NULL, 0, TIMER_ALL_ACCESS);
}

/*
 * Such a timer counts from now, so what is left is computed each time. It may be over a little early by this clock: then
 * the rest is slept by the timer, too. An interruption (os_thread_interrupt) is a call queued to the thread, which ends
 * the wait.
 */
static DWORD sleep_once(struct os_thread *self, int64_t left_ns)
{
    const LARGE_INTEGER due = {.QuadPart = -((left_ns + NS_PER_UNIT - 1) / NS_PER_UNIT)};
    SetWaitableTimer(self->timer, &due, 0, NULL, NULL, FALSE);
    self->programmed_ns = os_now_ns() - due.QuadPart * NS_PER_UNIT;
    atomic_store_explicit(&self->sleeps, atomic_load_explicit(&self->sleeps, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    return WaitForSingleObjectEx(self->timer, INFINITE, TRUE);
}

int64_t os_sleep_until_and_read(int64_t instant_ns)
{
    struct os_thread *const self = win32_self();
    int64_t now_ns = os_now_ns();
    DWORD ended = WAIT_OBJECT_0;
    self->programmed_ns = INT64_MIN;
    while (now_ns < instant_ns && ended == WAIT_OBJECT_0) {
        ended = sleep_once(self, instant_ns - now_ns);
        now_ns = os_now_ns();
    }
    return now_ns;
}

int64_t os_sleep_programmed_ns(void)
{
    return win32_self()->programmed_ns;
}

enum os_status os_sleep_until(int64_t instant_ns)
{
    return os_sleep_until_and_read(instant_ns) >= instant_ns ? OS_OK : OS_INTERRUPTED;
}

/* ---- All clocks --------------------------------------------------------- */

static int64_t read_unbiased(void)
{
    ULONGLONG units = 0;
    (void)QueryUnbiasedInterruptTime(&units);
    return (int64_t)(units * NS_PER_UNIT);
}

int64_t os_wall_clock_ns(void)
{
    FILETIME time;
    GetSystemTimePreciseAsFileTime(&time);
    return ns_of(time);
}

static int64_t read_wall(void)
{
    FILETIME time;
    GetSystemTimeAsFileTime(&time);
    return ns_of(time);
}

static int64_t read_ticks(void)
{
    enum { NS_PER_MS = 1000000 };
    return (int64_t)(GetTickCount64() * NS_PER_MS);
}

static int64_t resolution_of_counter(void)
{
    return (int64_t)((NS_PER_S + frequency - 1) / frequency);
}

static int64_t resolution_of_unit(void)
{
    return NS_PER_UNIT;
}

/* The system's clock interrupt, by which the coarse clocks go on. */
static int64_t resolution_of_tick(void)
{
    DWORD adjustment = 0;
    DWORD increment = 0;
    BOOL disabled = FALSE;
    return GetSystemTimeAdjustment(&adjustment, &increment, &disabled) ? (int64_t)increment * NS_PER_UNIT : 0;
}

static int64_t resolution_unknown(void)
{
    return 0;
}

struct named_clock {
    const char *name;
    int64_t (*read)(void);
    int64_t (*resolution)(void);
};

/* The measuring clock has the name that it has everywhere. */
static const struct named_clock clocks[] = {
    {"monotonic", os_now_ns, resolution_of_counter},
    {"interrupt-time", read_unbiased, resolution_of_tick},
    {"wall-precise", os_wall_clock_ns, resolution_of_unit},
    {"wall", read_wall, resolution_of_tick},
    {"tick-count", read_ticks, resolution_of_tick},
    {"thread-cpu", os_thread_cpu_time_ns, resolution_unknown},
};

/* The measuring clock goes on while the system is suspended, so that no other one shows by how much. */
int64_t os_time_since_boot_ns(void)
{
    return INT64_MIN;
}

size_t os_clock_count(void)
{
    return sizeof clocks / sizeof clocks[0];
}

const char *os_clock_name(size_t clock)
{
    return clocks[clock].name;
}

int64_t os_clock_read_ns(size_t clock)
{
    return clocks[clock].read();
}

int64_t os_clock_resolution_ns(size_t clock)
{
    return clocks[clock].resolution();
}
