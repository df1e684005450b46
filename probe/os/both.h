/*
 * What either side of a program may call (os/os.h): words that both use, the measuring clock, the flag of the end, and
 * what one side does for a thread of the other. A port makes each of these without a change of domain on either side.
 */
#ifndef TAUTO_OS_BOTH_H
#define TAUTO_OS_BOTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum os_status {
    OS_OK = 0,
    OS_NOT_PERMITTED, /* the system would do it, but not for this user */
    OS_UNSUPPORTED,   /* this system has no such service */
    OS_INVALID,       /* a value that the system does not take */
    OS_NO_MEMORY,     /* memory, or another counted resource, is used up */
    OS_TIMED_OUT,
    OS_INTERRUPTED,
    OS_EXISTS,
    OS_NOT_FOUND,
    OS_IS_FOLDER,
    OS_IS_LINK,
    OS_IS_DEVICE, /* a disk, a socket */
    OS_OF_OTHERS, /* another user's, or it has other names too */
    OS_NO_SPACE,
    OS_BUSY, /* the system has promised the rest to others */
    OS_REFUSED,     /* nobody listens there */
    OS_CLOSED,      /* the other side of a connection ended it, or went away */
    OS_UNREACHABLE, /* there is no way to that address */
    OS_IN_USE,      /* another program has this address and port */
    OS_FAILED,
};

/* A few words for a person; never NULL. */
const char *os_status_text(enum os_status status);

/* ---- Clocks ------------------------------------------------------------- */

/* The measuring clock: monotonic, never set. No system call where the system offers a cheaper way. One clock for both
 * sides, because readings of the one are compared with readings of the other. */
int64_t os_now_ns(void);

/* All the clocks that exist here; index 0 is the measuring clock. */
size_t os_clock_count(void);
const char *os_clock_name(size_t clock);
int64_t os_clock_read_ns(size_t clock);
/* The resolution that the system reports, 0 where it reports none. */
int64_t os_clock_resolution_ns(size_t clock);

/* To arm a timer, sleep, be interrupted and switched to takes several microseconds of CPU time (20 us in a virtual machine
 * on x86-64, where it was measured). A real-time thread that is released more often than this hardly sleeps any more, and
 * keeps everything else from its CPU. */
enum { OS_SHORTEST_PERIOD_NS = 10000 };

/* ---- Threads ------------------------------------------------------------ */

enum os_policy { OS_POLICY_OTHER, OS_POLICY_FIFO, OS_POLICY_RR, OS_POLICY_DEADLINE };

const char *os_policy_name(enum os_policy policy);

enum { OS_CPU_ANY = -1 };

struct os_thread_attributes {
    const char *name;         /* shown by the system's own tools; at most 15 characters count */
    enum os_policy policy;
    int32_t below_highest;    /* FIFO and RR: 0 is the highest priority of the policy */
    int32_t cpu;              /* or OS_CPU_ANY */
    size_t stack_bytes;       /* 0: 256 KiB */
    int64_t runtime_ns;       /* DEADLINE only: budget, relative deadline, period */
    int64_t deadline_ns;
    int64_t period_ns;
};

/* What the system says the calling thread really has. INT64_MIN where it can't tell. */
struct os_thread_obtained {
    enum os_policy policy;
    int64_t native_priority; /* in the system's own numbers */
    int64_t cpu;             /* the one CPU it may use, OS_CPU_ANY when there are several */
    int64_t timer_slack_ns;
    int64_t runtime_ns;
    int64_t deadline_ns;
    int64_t period_ns;
};

struct os_thread;
typedef void (*os_thread_entry)(void *argument);
/* Ends a sleep, or a wait for a channel, of a real-time thread early, if it sleeps. OS_UNSUPPORTED where a thread can't be
 * interrupted (OS_SERVICE_INTERRUPTION): there it ends its sleep, or its wait times out, as if nobody had called. */
enum os_status os_thread_interrupt(struct os_thread *thread);
/* A thread may suspend itself. Who is resumed before it is suspended is suspended then. OS_UNSUPPORTED on systems that have
 * no such call (POSIX has none). */
enum os_status os_thread_suspend(struct os_thread *thread);
enum os_status os_thread_resume(struct os_thread *thread);

/* ---- Semaphores --------------------------------------------------------- */

/* For real-time threads to wait on (os/realtime.h); either side posts. What the ordinary side waits for is a notice
 * (os/ordinary.h). */
struct os_semaphore;
enum os_status os_semaphore_post(struct os_semaphore *semaphore);

/* ---- Ending early ------------------------------------------------------- */

enum os_stop {
    OS_STOP_NONE = 0,
    OS_STOP_INTERRUPTED,
    OS_STOP_WATCHDOG,
    OS_STOP_AT_ONCE, /* asked a second time: give up what would still block */
};

/* The flag: cheap enough for a measuring loop. */
enum os_stop os_stop_requested(void);
/* Sets the flag, unless it is set already. */
void os_stop_request(enum os_stop stop);

#endif
