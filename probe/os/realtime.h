/*
 * What a real-time thread may call: a thread of os_thread_create, from its entry to its end. A port makes all of this
 * without leaving the real-time domain of its system (Cobalt's primary mode, EVL's out-of-band stage; Linux has one
 * domain only), or says through os_service_available that it can't. Nothing else is called between the first release
 * and the last, but after os_thread_go_ordinary. tests/probe/test_probe_sides.py holds the experiments to it.
 */
#ifndef TAUTO_OS_REALTIME_H
#define TAUTO_OS_REALTIME_H

#include "os/both.h"

/* ---- Sleeping ----------------------------------------------------------- */

/* Sleep until the measuring clock reads `instant_ns`, at once when that is past, and read the clock as the very next
 * thing: nothing stands between. Returns that reading; before `instant_ns` only when the sleep was ended early. */
int64_t os_sleep_until_and_read(int64_t instant_ns);
void os_yield(void);

/* ---- The calling thread ------------------------------------------------- */

void os_thread_read_back(struct os_thread_obtained *obtained);
/* INT64_MIN where that can't be told (OS_SERVICE_THREAD_CPU_TIME). */
int64_t os_thread_cpu_time_ns(void);
/* How often it has given its CPU away so far by waiting, and how often the CPU was taken from it. INT64_MIN where that
 * can't be told. */
void os_thread_switches(int64_t *voluntary, int64_t *involuntary);

/* How often the calling thread of policy DEADLINE used up its budget before the end of its period and was stopped, as far
 * as the system tells: at its tick, so several between two ticks are one. INT64_MIN where it does not tell. */
int64_t os_thread_budget_overruns(void);

/* ---- Leaving the real-time domain --------------------------------------- */

typedef void (*os_inband_note)(void *argument);
/* From now on `note` is called, in the calling thread and wherever it stands, each time that the system takes the thread
 * out of its real-time domain: an in-band switch (EVL), a switch to secondary mode (Cobalt). `note` writes memory and
 * calls nothing. OS_UNSUPPORTED where there is one domain only (OS_SERVICE_INBAND_SWITCHES). */
enum os_status os_thread_watch_inband(os_inband_note note, void *argument);
/* The calling thread is going to use the ordinary side, between two repetitions, say: until it is back, leaving the
 * domain is no news. Never within a measured interval. */
void os_thread_go_ordinary(void);
void os_thread_go_realtime(void);

/* ---- Locks -------------------------------------------------------------- */

struct os_mutex;
enum os_status os_mutex_lock(struct os_mutex *mutex);
enum os_status os_mutex_unlock(struct os_mutex *mutex);

enum os_status os_semaphore_wait(struct os_semaphore *semaphore);
/* OS_TIMED_OUT when nothing was posted within `timeout_ns`. */
enum os_status os_semaphore_wait_for(struct os_semaphore *semaphore, int64_t timeout_ns);

/* A lock whose waiters keep their CPU. Who spins above the owner on the owner's own CPU would never end, so that a wait
 * is always bounded: OS_TIMED_OUT after `patience_ns` of trying. */
struct os_spin_lock;
enum os_status os_spin_lock_acquire(struct os_spin_lock *lock, int64_t patience_ns);
enum os_status os_spin_lock_release(struct os_spin_lock *lock);

/* Any number of readers, or one writer. */
struct os_rw_lock;
enum os_status os_rw_lock_read(struct os_rw_lock *lock);
enum os_status os_rw_lock_write(struct os_rw_lock *lock);
/* What the calling thread holds, whichever it is. */
enum os_status os_rw_lock_release(struct os_rw_lock *lock);

/* To wait for something that a mutex guards. */
struct os_condition;
/* The caller holds `mutex`; it is released while waiting, and held again on return. May return without a signal. */
enum os_status os_condition_wait(struct os_condition *condition, struct os_mutex *mutex);
/* Wakes one of those who wait, if there are any. */
enum os_status os_condition_signal(struct os_condition *condition);

/* Where `count` threads (at least 1) meet, again and again. Whatever any of them did before it came has happened for
 * all of them when they go on. Who waits keeps its CPU for `spin_ns`, then sleeps. */
struct os_barrier;
/* True for the last one that comes, once in each round, at once: the others stay until it has called os_barrier_open,
 * so that it may decide for all. False for the others, when they may go on. */
bool os_barrier_meet(struct os_barrier *barrier);
void os_barrier_open(struct os_barrier *barrier);

/* ---- Queues ------------------------------------------------------------- */

/* A stream of bytes between two threads of this process; leaves nothing behind in the system. */
struct os_fifo;
/* Whole messages or nothing: blocks until all `bytes` are through (at most 4,096 to stay atomic). */
enum os_status os_fifo_write(struct os_fifo *fifo, const void *data, size_t bytes);
enum os_status os_fifo_read(struct os_fifo *fifo, void *data, size_t bytes);
/* The same, but the wait ends when os_stop_requested and os_thread_interrupt or a signal comes: OS_INTERRUPTED. */
enum os_status os_fifo_write_or_stop(struct os_fifo *fifo, const void *data, size_t bytes);
enum os_status os_fifo_read_or_stop(struct os_fifo *fifo, void *data, size_t bytes);

struct os_message_queue;
enum os_status os_message_queue_send(struct os_message_queue *queue, const void *data, size_t bytes);
/* `data` has room for message_bytes; `received_bytes` may be NULL. */
enum os_status os_message_queue_receive(struct os_message_queue *queue, void *data, size_t *received_bytes);

/* ---- To the ordinary side ----------------------------------------------- */

/* Ends the wait of the ordinary side for it, once for each call. */
struct os_notice;
enum os_status os_notice_post(struct os_notice *notice);

#endif
