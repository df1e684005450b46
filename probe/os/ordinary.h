/*
 * What the ordinary side calls: main, before and after a run and while it drains, and threads of
 * os_thread_create_ordinary. It makes and destroys what the real-time side uses, and asks the system. A real-time thread
 * calls nothing of this, for a port may have left the real-time domain (os/realtime.h) by doing so.
 */
#ifndef TAUTO_OS_ORDINARY_H
#define TAUTO_OS_ORDINARY_H

#include "os/both.h"

/* ---- This system --------------------------------------------------------- */

/* Before anything else: proves that the program runs on the system that it was built for, and joins it. On any other
 * answer than OS_OK, `why` has the reason, and behind a line break what to do. */
enum os_status os_system_begin(const char **why);

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
    OS_SERVICE_THREAD_CPU_TIME, /* a thread can tell how much CPU time it has used */
    OS_SERVICE_INTERRUPTION,    /* os_thread_interrupt */
    OS_SERVICE_INBAND_SWITCHES, /* os_thread_watch_inband */
    OS_SERVICE_COUNT,
};

enum os_availability {
    OS_ABSENT,       /* a table shows N/A and `why` */
    OS_DENIED,       /* it exists, this user may not use it: `why` says how to get it */
    OS_NOT_REALTIME, /* it exists, but who uses it leaves the real-time domain: N/A too, and `why` says how */
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

/* Wall-clock time, to date a run. Not for measuring. */
int64_t os_wall_clock_ns(void);

/* Since the system began, the time in which it was suspended included; INT64_MIN where it can't tell. */
int64_t os_time_since_boot_ns(void);

/* Sleep until the measuring clock reads `instant_ns`; returns at once when that is past. OS_INTERRUPTED when a signal
 * ended the sleep early. */
enum os_status os_sleep_until(int64_t instant_ns);

/* ---- Threads ------------------------------------------------------------ */

/* The thread runs `entry` with its attributes already in force, or is not created at all. It is of the real-time side.
 * OS_NOT_PERMITTED: the policy or priority is not allowed to this user. OS_INVALID: CPU or priority. */
/* OS_TIMED_OUT: it did not come to run within 10 s, because threads of higher priority hold its CPU. */
enum os_status os_thread_create(struct os_thread **thread, const struct os_thread_attributes *attributes,
                                os_thread_entry entry, void *argument);
/* The same for a thread that measures nothing, whatever its policy: on systems with a real-time domain it is none of
 * that domain. */
enum os_status os_thread_create_ordinary(struct os_thread **thread, const struct os_thread_attributes *attributes,
                                         os_thread_entry entry, void *argument);
/* Waits for the end of the thread and frees it. */
enum os_status os_thread_join(struct os_thread *thread);
/* CPU time that another thread has used so far; INT64_MIN where it can't be told. */
int64_t os_thread_cpu_time_of(const struct os_thread *thread);
/* As the system's own tools show it (os_thread_number of it); 0 where it has none. */
int64_t os_thread_number_of(const struct os_thread *thread);
/* It looks after a thread of another process: what is told of it is told of that one, by its number. */
void os_thread_stand_for(struct os_thread *thread, int64_t number);
/* What the system has counted so far; INT64_MIN where it does not tell. */
struct os_counts {
    int64_t preempted; /* how often another thread took the CPU from it */
    int64_t faults;    /* of its pages */
    int64_t steal_ns;  /* what a hypervisor took from the CPU, in steps of the system's tick */
};
void os_counts_read(struct os_counts *counts, const struct os_thread *thread, int32_t cpu);
/* Every thread of this process may run on any CPU from now on. For the end only: a thread whose CPU is held by more
 * urgent ones could not even come to its end, and the process would stay with it. */
void os_threads_unpin(void);
/* The calling thread, which somebody else created, takes on this policy, priority and CPU now (OS_CPU_ANY: it stays
 * where it may run). OS_UNSUPPORTED where a system allows no later change; after any failure it has some of it. */
enum os_status os_thread_adopt(const struct os_thread_attributes *attributes);
/* Gives up real-time priority: a thread that does I/O has no business above one that measures. */
void os_thread_become_ordinary(void);
/* For a background program: the thread, and what it starts from now on, runs on these CPUs only. */
enum os_status os_thread_keep_to(const int32_t *cpus, uint32_t count);
/* The thread, and what it starts from now on, leaves the CPU to other ordinary threads: 0 as usual, 19 nearly always. */
void os_thread_give_way(int32_t nice);

/* The system's own priority numbers, for command lines and reports. */
int32_t os_priority_levels(enum os_policy policy); /* 0 where the policy has no priorities */
int64_t os_priority_to_native(enum os_policy policy, int32_t below_highest);
/* OS_INVALID where the policy has no such number. */
enum os_status os_priority_from_native(enum os_policy policy, int64_t native, int32_t *below_highest);

/* The policy of a thread that measures, unless another is asked for: FIFO, or RR where equals always take turns. */
enum os_policy os_usual_policy(void);

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
/* A thread of this process was created for this CPU alone. */
bool os_cpu_has_thread(int32_t cpu);
/* How many doubles the widest vector instructions that this CPU and this system have take at a time: 2, 4 or 8; 2 too
 * where nothing is known. */
uint32_t os_vector_lanes(void);

/* ---- Locks, semaphores and queues of the real-time side ----------------- */

struct os_mutex;
enum os_mutex_protocol { OS_MUTEX_NONE, OS_MUTEX_INHERIT, OS_MUTEX_PROTECT };
/* `ceiling_below_highest` is for OS_MUTEX_PROTECT only. */
enum os_status os_mutex_create(struct os_mutex **mutex, enum os_mutex_protocol protocol,
                               int32_t ceiling_below_highest);
void os_mutex_destroy(struct os_mutex *mutex);

struct os_semaphore;
enum os_status os_semaphore_create(struct os_semaphore **semaphore, uint32_t initial);
void os_semaphore_destroy(struct os_semaphore *semaphore);

struct os_spin_lock;
enum os_status os_spin_lock_create(struct os_spin_lock **lock);
void os_spin_lock_destroy(struct os_spin_lock *lock);

struct os_rw_lock;
enum os_status os_rw_lock_create(struct os_rw_lock **lock);
void os_rw_lock_destroy(struct os_rw_lock *lock);

struct os_condition;
enum os_status os_condition_create(struct os_condition **condition);
void os_condition_destroy(struct os_condition *condition);

struct os_barrier;
enum os_status os_barrier_create(struct os_barrier **barrier, uint32_t count, int64_t spin_ns);
/* No thread may be in it, or on the way. */
void os_barrier_destroy(struct os_barrier *barrier);

struct os_fifo;
enum os_status os_fifo_create(struct os_fifo **fifo);
void os_fifo_destroy(struct os_fifo *fifo);

struct os_message_queue;
enum os_status os_message_queue_create(struct os_message_queue **queue, size_t messages, size_t message_bytes);
void os_message_queue_destroy(struct os_message_queue *queue);

/* What the real-time side has to say to the ordinary one: os_notice_post. */
struct os_notice;
enum os_status os_notice_create(struct os_notice **notice);
void os_notice_destroy(struct os_notice *notice);
/* OS_TIMED_OUT when nothing was posted within `timeout_ns`. */
enum os_status os_notice_wait_for(struct os_notice *notice, int64_t timeout_ns);

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
/* The same, on the memory node of this CPU where there are several and it has room; nearest to the caller for
 * OS_CPU_ANY. A policy that the process was started with (numactl) is left as it is. */
enum os_status os_memory_allocate_near(void **memory, size_t bytes, int32_t cpu);
/* The memory node of a CPU; -1 where the system does not tell or has no such thing. */
int32_t os_memory_node_of(int32_t cpu);
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

/* From now on a request of the user or of the system to end, and a watchdog that bites, set the stop flag. What the
 * one who started this process chose to ignore stays ignored. */
enum os_status os_stop_listen(void);
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
    char core[65]; /* the real-time core beside it and its version, empty where there is none */
    char emulator[65]; /* what passes for this system and has times of its own, empty where it is the system itself */
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
