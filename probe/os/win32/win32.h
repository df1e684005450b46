/* What the files of the Windows port share. */
#ifndef TAUTO_WIN32_H
#define TAUTO_WIN32_H

#include "os/os.h"

#define WIN32_LEAN_AND_MEAN
#undef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00
#include <windows.h>

#include <stdatomic.h>

/* ---- Threads ------------------------------------------------------------- */

struct os_thread {
    HANDLE handle;
    HANDLE timer; /* by which it sleeps */
    HANDLE started;
    struct os_thread_attributes attributes;
    bool is_realtime;
    os_thread_entry entry;
    void *argument;
    int64_t programmed_ns; /* the last sleep: when its timer is due at the latest; INT64_MIN: it had no need of one */
    atomic_uint_fast64_t sleeps;
    uint32_t calls; /* queued to it and made: written and read by itself alone */
    atomic_int standing;
    atomic_bool ended;
    /* For the watchdog: since when it has not slept. */
    int64_t awake_since_ns;
    int64_t awake_cpu_ns;
    uint64_t awake_sleeps;
    struct os_thread *next;
};

/* The calling thread: one of os_thread_create, or the first one. */
struct os_thread *win32_self(void);
/* The first one, once. */
enum os_status win32_thread_begin(void);
/* Calls for each thread that is there now, while none can end. */
void win32_for_each_thread(void (*visit)(struct os_thread *thread));
/* Ends its sleep, if it sleeps, also that of the first thread. */
void win32_wake_first(void);
/* A timer to sleep by: of high resolution where the system has them (Windows 10, 1803). */
HANDLE win32_timer_create(void);
bool win32_timer_is_fine(void);
/* How long the cycles are that threads count, measured once; and CPU time of a thread: INT64_MIN where it can't be told. */
void win32_cpu_time_begin(void);
int64_t win32_cpu_time_ns(HANDLE thread);

/* ---- Priorities ---------------------------------------------------------- */

/* Is this process allowed the class REALTIME? Asked once, by trying. */
void win32_priority_begin(void);
bool win32_may_be_realtime(void);
/* The process takes the class that real-time threads need; how many threads want it is counted. */
bool win32_class_raise(void);
void win32_class_lower(void);
bool win32_class_is_raised(void);
/* Of a thread, in the class that the process has now. */
bool win32_set_priority(HANDLE thread, enum os_policy policy, int32_t below_highest);

/* ---- CPUs ---------------------------------------------------------------- */

bool win32_affinity_of(int32_t cpu, GROUP_AFFINITY *affinity);
/* The one CPU of an affinity, OS_CPU_ANY where there are several. */
int32_t win32_cpu_of(const GROUP_AFFINITY *affinity);
void win32_note_cpu(int32_t cpu);

/* ---- The rest ------------------------------------------------------------ */

/* The measuring clock's frequency is asked for, once. */
bool win32_clock_begin(void);
/* The stack of the calling thread stays in memory if the process's memory does. */
void win32_lock_stack(void);
enum os_status win32_status(DWORD error);
/* A function that some versions of the system lack; NULL: this one does. */
void (*win32_find(const char *library, const char *name))(void);
/* "Wine 8.0"; NULL where the system is Windows. */
const char *win32_emulator(void);

#endif
