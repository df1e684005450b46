/*
 * The operating system as an experiment sees it. One folder beside this header
 * implements it for one family of systems (posix/ today); no experiment, load or
 * recorder includes a system header or asks which system it runs on.
 *
 * Priorities are levels below the highest ("highest minus k"), because systems
 * count in different directions. Attributes of a thread are given when it is
 * created, because some systems allow no later change. Times are nanoseconds on
 * one monotonic clock.
 *
 * Every call that can fail returns an os_status; OS_OK is 0.
 */
#ifndef TAUTO_OS_H
#define TAUTO_OS_H

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

/* ---- What exists here --------------------------------------------------- */

enum os_service {
    OS_SERVICE_POLICY_FIFO,
    OS_SERVICE_POLICY_RR,
    OS_SERVICE_POLICY_DEADLINE,
    OS_SERVICE_AFFINITY,
    OS_SERVICE_ABSOLUTE_SLEEP,
    OS_SERVICE_MUTEX,
    OS_SERVICE_MUTEX_INHERIT,
    OS_SERVICE_MUTEX_PROTECT,
    OS_SERVICE_SEMAPHORE,
    OS_SERVICE_SPIN_LOCK,
    OS_SERVICE_RW_LOCK,
    OS_SERVICE_CONDITION,
    OS_SERVICE_FIFO,
    OS_SERVICE_MESSAGE_QUEUE,
    OS_SERVICE_YIELD,
    OS_SERVICE_SUSPEND_RESUME,
    OS_SERVICE_MEMORY_LOCK,
    OS_SERVICE_WAKE_LATENCY_LIMIT,
    OS_SERVICE_COUNT,
};

enum os_availability {
    OS_ABSENT,       /* a table shows N/A and `why` */
    OS_DENIED,       /* it exists, this user may not use it: `why` says how to get it */
    OS_NOT_REALTIME, /* it exists, but leaves the real-time domain of this system */
    OS_PRESENT,
};

struct os_answer {
    enum os_availability availability;
    const char *why; /* empty when OS_PRESENT */
};

/* Tries the service where a try is harmless. Before measuring only. */
struct os_answer os_service_available(enum os_service service);
const char *os_service_name(enum os_service service);

/* ---- Clocks ------------------------------------------------------------- */

/* The measuring clock: monotonic, never set. No system call where the system offers a cheaper way. */
int64_t os_now_ns(void);

/* All the clocks that exist here; index 0 is the measuring clock. */
size_t os_clock_count(void);
const char *os_clock_name(size_t clock);
int64_t os_clock_read_ns(size_t clock);
/* The resolution that the system reports, 0 where it reports none. */
int64_t os_clock_resolution_ns(size_t clock);

/* Wall-clock time, to date a run. Not for measuring. */
int64_t os_wall_clock_ns(void);

/* Sleep until the measuring clock reads `instant_ns`; returns at once when that is past.
 * OS_INTERRUPTED when os_thread_interrupt or a signal ended the sleep early. */
enum os_status os_sleep_until(int64_t instant_ns);
/* The same for a measuring loop: the clock is read as the very next thing after the sleep, nothing stands between.
 * Returns that reading; before `instant_ns` only when the sleep was ended early. */
int64_t os_sleep_until_and_read(int64_t instant_ns);
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

/* The thread runs `entry` with its attributes already in force, or is not created at all.
 * OS_NOT_PERMITTED: the policy or priority is not allowed to this user. OS_INVALID: CPU or priority. */
/* OS_TIMED_OUT: it did not come to run within 10 s, because threads of higher priority hold its CPU. */
enum os_status os_thread_create(struct os_thread **thread, const struct os_thread_attributes *attributes,
                                os_thread_entry entry, void *argument);
/* Waits for the end of the thread and frees it. */
enum os_status os_thread_join(struct os_thread *thread);
/* CPU time that another thread has used so far; INT64_MIN where it can't be told. */
int64_t os_thread_cpu_time_of(const struct os_thread *thread);
/* Ends a sleep of the thread early, if it sleeps. */
void os_thread_interrupt(struct os_thread *thread);
/* Every thread of this process may run on any CPU from now on. For the end only: a thread whose CPU is held by more
 * urgent ones could not even come to its end, and the process would stay with it. */
void os_threads_unpin(void);
/* OS_UNSUPPORTED on systems that have no such call (POSIX has none). */
enum os_status os_thread_suspend(struct os_thread *thread);
enum os_status os_thread_resume(struct os_thread *thread);
void os_yield(void);

/* Of the calling thread. */
void os_thread_read_back(struct os_thread_obtained *obtained);
/* The calling thread, which somebody else created, takes on this policy, priority and CPU now (OS_CPU_ANY: it stays
 * where it may run). OS_UNSUPPORTED where a system allows no later change; after any failure it has some of it. */
enum os_status os_thread_adopt(const struct os_thread_attributes *attributes);
/* Gives up real-time priority: a thread that does I/O has no business above one that measures. */
void os_thread_become_ordinary(void);
int64_t os_thread_cpu_time_ns(void);
/* How often it has given its CPU away so far by waiting, and how often the CPU was taken from it. INT64_MIN where that
 * can't be told. */
void os_thread_switches(int64_t *voluntary, int64_t *involuntary);

/* For a background program: the thread, and what it starts from now on, runs on these CPUs only. */
enum os_status os_thread_keep_to(const int32_t *cpus, uint32_t count);
/* The thread, and what it starts from now on, leaves the CPU to other ordinary threads: 0 as usual, 19 nearly always. */
void os_thread_give_way(int32_t nice);

/* The system's own priority numbers, for command lines and reports. */
int32_t os_priority_levels(enum os_policy policy); /* 0 where the policy has no priorities */
int64_t os_priority_to_native(enum os_policy policy, int32_t below_highest);
/* OS_INVALID where the policy has no such number. */
enum os_status os_priority_from_native(enum os_policy policy, int64_t native, int32_t *below_highest);

/* ---- CPUs --------------------------------------------------------------- */

/* CPUs are numbered 0 … os_cpu_limit() - 1; not all of them need to exist. */
int32_t os_cpu_limit(void);
bool os_cpu_is_online(int32_t cpu);
/* Those that are, as people write them: "0,2-3". Empty where that can't be told. */
void os_cpus_online_text(char *text, size_t bytes);
/* This process may put a thread there. Isolated CPUs are allowed, though nothing runs there by itself. */
bool os_cpu_is_allowed(int32_t cpu);
/* This process runs there without asking: what it was started with. */
bool os_cpu_is_inherited(int32_t cpu);
/* How many doubles the widest vector instructions that this CPU and this system have take at a time: 2, 4 or 8; 2 too
 * where nothing is known. */
uint32_t os_vector_lanes(void);

/* ---- Locks -------------------------------------------------------------- */

enum os_mutex_protocol { OS_MUTEX_NONE, OS_MUTEX_INHERIT, OS_MUTEX_PROTECT };

struct os_mutex;
/* `ceiling_below_highest` is for OS_MUTEX_PROTECT only. */
enum os_status os_mutex_create(struct os_mutex **mutex, enum os_mutex_protocol protocol,
                               int32_t ceiling_below_highest);
void os_mutex_destroy(struct os_mutex *mutex);
enum os_status os_mutex_lock(struct os_mutex *mutex);
enum os_status os_mutex_unlock(struct os_mutex *mutex);

struct os_semaphore;
enum os_status os_semaphore_create(struct os_semaphore **semaphore, uint32_t initial);
void os_semaphore_destroy(struct os_semaphore *semaphore);
enum os_status os_semaphore_post(struct os_semaphore *semaphore);
enum os_status os_semaphore_wait(struct os_semaphore *semaphore);
/* OS_TIMED_OUT when nothing was posted within `timeout_ns`. */
enum os_status os_semaphore_wait_for(struct os_semaphore *semaphore, int64_t timeout_ns);

/* A lock whose waiters keep their CPU. Who spins above the owner on the owner's own CPU would never end, so that a wait
 * is always bounded: OS_TIMED_OUT after `patience_ns` of trying. */
struct os_spin_lock;
enum os_status os_spin_lock_create(struct os_spin_lock **lock);
void os_spin_lock_destroy(struct os_spin_lock *lock);
enum os_status os_spin_lock_acquire(struct os_spin_lock *lock, int64_t patience_ns);
enum os_status os_spin_lock_release(struct os_spin_lock *lock);

/* Any number of readers, or one writer. */
struct os_rw_lock;
enum os_status os_rw_lock_create(struct os_rw_lock **lock);
void os_rw_lock_destroy(struct os_rw_lock *lock);
enum os_status os_rw_lock_read(struct os_rw_lock *lock);
enum os_status os_rw_lock_write(struct os_rw_lock *lock);
/* What the calling thread holds, whichever it is. */
enum os_status os_rw_lock_release(struct os_rw_lock *lock);

/* To wait for something that a mutex guards. */
struct os_condition;
enum os_status os_condition_create(struct os_condition **condition);
void os_condition_destroy(struct os_condition *condition);
/* The caller holds `mutex`; it is released while waiting, and held again on return. May return without a signal. */
enum os_status os_condition_wait(struct os_condition *condition, struct os_mutex *mutex);
/* Wakes one of those who wait, if there are any. */
enum os_status os_condition_signal(struct os_condition *condition);

/* Where `count` threads (at least 1) meet, again and again. Whatever any of them did before it came has happened for
 * all of them when they go on. Who waits keeps its CPU for `spin_ns`, then sleeps. */
struct os_barrier;
enum os_status os_barrier_create(struct os_barrier **barrier, uint32_t count, int64_t spin_ns);
/* No thread may be in it, or on the way. */
void os_barrier_destroy(struct os_barrier *barrier);
/* True for the last one that comes, once in each round, at once: the others stay until it has called os_barrier_open,
 * so that it may decide for all. False for the others, when they may go on. */
bool os_barrier_meet(struct os_barrier *barrier);
void os_barrier_open(struct os_barrier *barrier);

/* ---- Queues ------------------------------------------------------------- */

/* A stream of bytes between two threads of this process; leaves nothing behind in the system. */
struct os_fifo;
enum os_status os_fifo_create(struct os_fifo **fifo);
void os_fifo_destroy(struct os_fifo *fifo);
/* Whole messages or nothing: blocks until all `bytes` are through (at most 4,096 to stay atomic). */
enum os_status os_fifo_write(struct os_fifo *fifo, const void *data, size_t bytes);
enum os_status os_fifo_read(struct os_fifo *fifo, void *data, size_t bytes);
/* The same, but the wait ends when os_stop_requested and os_thread_interrupt or a signal comes: OS_INTERRUPTED. */
enum os_status os_fifo_write_or_stop(struct os_fifo *fifo, const void *data, size_t bytes);
enum os_status os_fifo_read_or_stop(struct os_fifo *fifo, void *data, size_t bytes);

struct os_message_queue;
enum os_status os_message_queue_create(struct os_message_queue **queue, size_t messages, size_t message_bytes);
void os_message_queue_destroy(struct os_message_queue *queue);
enum os_status os_message_queue_send(struct os_message_queue *queue, const void *data, size_t bytes);
/* `data` has room for message_bytes; `received_bytes` may be NULL. */
enum os_status os_message_queue_receive(struct os_message_queue *queue, void *data, size_t *received_bytes);

/* ---- Memory ------------------------------------------------------------- */

/* Keep all present and future memory of this process resident. */
enum os_status os_memory_lock(void);

/* How much of it an ordinary user may keep resident. INT64_MAX where there is no limit. */
int64_t os_memory_lock_limit_bytes(void);
/* What the system says. */
bool os_memory_is_locked(void);
/* What the system could still give to this process without taking it from others, container limits included; INT64_MAX
 * where it can't be told. */
int64_t os_memory_available_bytes(void);
/* Should memory run out, the system ends this process, and what it starts from now on, before any other. */
void os_memory_end_first(void);
/* For who has to put things in order whatever happens: as far as this user may, this thread comes before all ordinary
 * ones (and after all other real-time ones), its memory stays resident, and the system does not end the process when
 * memory runs out. What it starts from now on inherits none of the first two. */
void os_stand_firm(void);
/* Memory that is mapped, touched and zeroed now, so that a measuring thread never faults on it. */
enum os_status os_memory_allocate(void **memory, size_t bytes);
/* Memory that costs nothing until it is touched. */
enum os_status os_memory_reserve(void **memory, size_t bytes);
/* All of it, or whole pages of it. */
void os_memory_free(void *memory, size_t bytes);

/* ---- Output ------------------------------------------------------------- */

struct os_output {
    intptr_t handle; /* the system's own */
};
struct os_output os_output_standard(void);
struct os_output os_output_error(void);
/* Open `path` for writing; "-" is standard output. A new file is made, or an empty one of this user's taken; one that
 * already holds something is left alone: OS_EXISTS. Pipes and character devices are opened as they are. Nothing
 * else is written to, and no link followed but the system's own (/dev/stdout, /dev/fd/N): OS_IS_LINK, OS_IS_FOLDER,
 * OS_IS_DEVICE, OS_OF_OTHERS. */
enum os_status os_output_open(const char *path, struct os_output *output);
/* All of `bytes`, or why not. */
enum os_status os_output_write(struct os_output output, const void *data, size_t bytes);
/* Standard output and error stay open. */
enum os_status os_output_close(struct os_output output);

/* ---- Ending early ------------------------------------------------------- */

enum os_stop {
    OS_STOP_NONE = 0,
    OS_STOP_INTERRUPTED,
    OS_STOP_WATCHDOG,
    OS_STOP_AT_ONCE, /* asked a second time: give up what would still block */
};

/* From now on a request of the user or of the system to end, and a watchdog that bites, set the stop flag. What the
 * one who started this process chose to ignore stays ignored. */
enum os_status os_stop_listen(void);
/* The flag: cheap enough for a measuring loop. */
enum os_stop os_stop_requested(void);
/* Sets the flag, unless it is set already. */
void os_stop_request(enum os_stop stop);
/* What the operator's terminal or parent has to say: true once standard input is at its end. Never blocks. */
bool os_input_ended(void);

/* A real-time thread that runs `budget_ns` without once sleeping sets the stop flag to OS_STOP_WATCHDOG; one that
 * does not heed the flag for as long again ends the process. The system counts in its tick, whatever the priority; on
 * a CPU without a tick it may not, so the recorder looks as well. `obtained_ns` is what the system granted. */
enum os_status os_watchdog_start(int64_t budget_ns, int64_t *obtained_ns);

/* ---- The system's own limits and facts ---------------------------------- */

struct os_facts {
    char name[65];
    char release[65];
    char version[65];
    char machine[65];
};
void os_facts_read(struct os_facts *facts);

/* The share of time that real-time threads may take; runtime_ns is -1 where there is no limit.
 * OS_UNSUPPORTED where the system has no such limit or does not tell. */
enum os_status os_realtime_share(int64_t *runtime_ns, int64_t *period_ns);

/* Ask the system to keep wake-up latency of idle CPUs within `limit_us` until the process ends. */
enum os_status os_wake_latency_limit(int32_t limit_us);
/* The limit now in force, whoever asked for it. INT64_MIN where it can't be told or there is none. */
int64_t os_wake_latency_limit_in_force_us(void);

/* How a user gets what OS_NOT_PERMITTED refused; for messages. */
const char *os_advice_for_policy(void);
const char *os_advice_for_memory_lock(void);

#endif
