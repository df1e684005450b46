/*
 * Ending early: the console's events, and the watchdog, a thread at the highest priority that looks at all measuring ones:
 * Windows has no limit of its own for threads that never sleep.
 */
#include "win32.h"

#include <string.h>

enum { LOOK_INTERVAL_MS = 100, NS_PER_MS = 1000000, LEAST_IDLE_MS = 25, IDLE_PART = 10, KILLED = 137 };

static atomic_int stop_flag;
static atomic_int_fast64_t budget_ns;

enum os_stop os_stop_requested(void)
{
    return (enum os_stop)atomic_load_explicit(&stop_flag, memory_order_relaxed);
}

void os_stop_request(enum os_stop stop)
{
    int none = OS_STOP_NONE;
    atomic_compare_exchange_strong(&stop_flag, &none, (int)stop);
}

/* Called in a thread of the system's own. When the window is closed or the user logs off, the process ends as soon as this
 * returns, or a few seconds later: those are left for writing the end of the run. */
static BOOL WINAPI on_event(DWORD event)
{
    int before = OS_STOP_NONE;
    if (!atomic_compare_exchange_strong(&stop_flag, &before, OS_STOP_INTERRUPTED) && before == OS_STOP_INTERRUPTED) {
        atomic_store(&stop_flag, OS_STOP_AT_ONCE);
    }
    win32_wake_first();
    if (event == CTRL_CLOSE_EVENT || event == CTRL_LOGOFF_EVENT || event == CTRL_SHUTDOWN_EVENT) {
        Sleep(INFINITE);
    }
    return TRUE;
}

/* Whoever starts the probe over a pipe, such as an SSH server, can send it no event of the console: a line "stop" is one. */
static DWORD WINAPI read_lines(void *argument)
{
    (void)argument;
    HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
    char line[16];
    DWORD length = 0;
    DWORD got = 0;
    while (ReadFile(input, line + length, 1, &got, NULL) && got == 1) {
        if (line[length] == '\n') {
            if (length >= 4 && memcmp(line, "stop", 4) == 0) {
                (void)on_event(CTRL_C_EVENT);
            }
            length = 0;
        } else if (length + 1 < sizeof line) {
            length++;
        }
    }
    return 0;
}

enum os_status os_stop_listen(void)
{
    if (GetFileType(GetStdHandle(STD_INPUT_HANDLE)) == FILE_TYPE_PIPE) {
        HANDLE reader = CreateThread(NULL, 0, read_lines, NULL, 0, NULL);
        if (reader == NULL) {
            return win32_status(GetLastError());
        }
        CloseHandle(reader);
    }
    return SetConsoleCtrlHandler(on_event, TRUE) ? OS_OK : win32_status(GetLastError());
}

/* ---- The watchdog ------------------------------------------------------- */

static int64_t now_ns;

/* It has not slept since when its CPU time keeps up with the clock; that is told in ticks, so a little is allowed. */
static void look(struct os_thread *thread)
{
    const int64_t budget = atomic_load(&budget_ns);
    if (!thread->is_realtime || thread->attributes.policy != OS_POLICY_RR || atomic_load(&thread->ended)) {
        return;
    }
    const int64_t cpu_ns = win32_cpu_time_ns(thread->handle);
    const uint64_t sleeps = atomic_load_explicit(&thread->sleeps, memory_order_relaxed);
    const int64_t awake_ns = now_ns - thread->awake_since_ns;
    const int64_t idle_ns = awake_ns - (cpu_ns - thread->awake_cpu_ns);
    if (thread->awake_since_ns == 0 || sleeps != thread->awake_sleeps ||
        idle_ns > awake_ns / IDLE_PART + (int64_t)LEAST_IDLE_MS * NS_PER_MS) {
        thread->awake_since_ns = now_ns;
        thread->awake_cpu_ns = cpu_ns;
        thread->awake_sleeps = sleeps;
    } else if (awake_ns > 2 * budget) {
        TerminateProcess(GetCurrentProcess(), KILLED); /* it does not heed the flag */
    } else if (awake_ns > budget) {
        os_stop_request(OS_STOP_WATCHDOG);
    }
}

static DWORD WINAPI watch(void *argument)
{
    (void)argument;
    for (;;) {
        Sleep(LOOK_INTERVAL_MS);
        now_ns = os_now_ns();
        win32_for_each_thread(look);
    }
    return 0;
}

enum os_status os_watchdog_start(int64_t wanted_ns, int64_t *obtained_ns)
{
    atomic_store(&budget_ns, wanted_ns);
    *obtained_ns = wanted_ns;
    static HANDLE watcher;
    if (watcher == NULL) {
        watcher = CreateThread(NULL, 0, watch, NULL, CREATE_SUSPENDED, NULL);
        if (watcher == NULL) {
            return win32_status(GetLastError());
        }
        (void)SetThreadPriority(watcher, THREAD_PRIORITY_TIME_CRITICAL); /* of whatever class the process will have */
        ResumeThread(watcher);
    }
    return OS_OK;
}
