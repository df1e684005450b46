/*
 * A stand-in for libcobalt and for the core behind it, for tests: threads of its own, in one of two modes. Who waits by a
 * wrapped call does so in primary mode; who makes one of Linux's calls that are listed below leaves it, is counted, and told
 * by SIGDEBUG if it asked for that. It keeps no time of its own and has no priorities: what it shows is the logic of the port,
 * and that no measuring thread leaves primary mode.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../support/of_linux.h"

#include <sys/cobalt.h>
#include <xenomai/init.h>

enum { SHADOWS = 512, FILES = 1024, RELEASE = 40, SUSPEND = 41, RESUME = 42 }; /* signals that nobody else here uses */

struct shadow {
    pthread_t handle;
    atomic_int number; /* 0: free, or not begun yet */
    void *(*start)(void *);
    void *argument;
    bool warns;
    atomic_bool primary;
    atomic_ulong switches;
    atomic_bool suspended;
};

static struct shadow shadows[SHADOWS];
static _Thread_local struct shadow *own;
static _Thread_local int inside; /* a call of ours that may use Linux's */

static void die(const char *what)
{
    fprintf(stderr, "stand-in of libcobalt: %s\n", what);
    abort();
}

static struct shadow *take(void)
{
    for (size_t i = 0; i < SHADOWS; i++) {
        int none = 0;
        if (atomic_compare_exchange_strong(&shadows[i].number, &none, -1)) {
            return &shadows[i];
        }
    }
    die("no more threads");
    return NULL;
}

static struct shadow *find(pthread_t handle)
{
    for (size_t i = 0; i < SHADOWS; i++) {
        if (atomic_load(&shadows[i].number) != 0 && pthread_equal(shadows[i].handle, handle)) {
            return &shadows[i];
        }
    }
    return NULL;
}

static void on_release(int signal)
{
    (void)signal;
}

static void on_suspend(int signal)
{
    sigset_t others;
    (void)signal;
    sigfillset(&others);
    sigdelset(&others, RESUME);
    while (own != NULL && atomic_load(&own->suspended)) {
        sigsuspend(&others);
    }
}

static void leave(void)
{
    if (own == NULL || inside > 0 || !atomic_exchange(&own->primary, false)) {
        return;
    }
    atomic_fetch_add(&own->switches, 1);
    if (own->warns) {
        const union sigval value = {.sival_int = (int)(sigdebug_marker | SIGDEBUG_MIGRATE_SYSCALL)};
        inside++;
        pthread_sigqueue(pthread_self(), SIGDEBUG, value);
        inside--;
    }
}

void cobalt_thread_harden(void)
{
    if (own != NULL) {
        atomic_store(&own->primary, true);
    }
}

/* ---- Its threads ---- */

static void open_signals(void)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, RELEASE);
    sigaddset(&ours, SUSPEND);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    sigemptyset(&ours);
    sigaddset(&ours, RESUME);
    pthread_sigmask(SIG_BLOCK, &ours, NULL);
}

static void end(void *shadow)
{
    own = NULL;
    atomic_store(&((struct shadow *)shadow)->number, 0);
}

static void *begin(void *argument)
{
    struct shadow *const shadow = argument;
    void *result;
    own = shadow;
    shadow->handle = pthread_self();
    atomic_store(&shadow->number, (int)gettid());
    open_signals();
    cobalt_thread_harden();
    pthread_cleanup_push(end, shadow);
    result = shadow->start(shadow->argument);
    pthread_cleanup_pop(1);
    return result;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    struct shadow *const shadow = take();
    shadow->start = start;
    shadow->argument = argument;
    shadow->warns = false;
    atomic_store(&shadow->suspended, false);
    const int error = pthread_create(thread, attributes, begin, shadow);
    if (error != 0) {
        atomic_store(&shadow->number, 0);
    }
    return error;
}

void xenomai_init(int *argc, char *const **argv)
{
    struct sigaction action = {.sa_handler = on_release};
    if (*argc != 1 || (*argv)[0] == NULL) {
        die("xenomai_init reads options of the program");
    }
    sigaction(RELEASE, &action, NULL);
    sigaction(RESUME, &action, NULL);
    action.sa_handler = on_suspend;
    sigaction(SUSPEND, &action, NULL);
    own = take();
    own->handle = pthread_self();
    atomic_store(&own->number, (int)gettid());
}

int __wrap_pthread_kill(pthread_t thread, int signal)
{
    struct shadow *const other = find(thread);
    if (signal <= SIGRTMAX) {
        return pthread_kill(thread, signal);
    }
    if (other == NULL) {
        return EINVAL; /* what Linux says of such a number */
    }
    if (signal == SIGRELS) {
        return pthread_kill(thread, RELEASE);
    }
    atomic_store(&other->suspended, signal == SIGSUSP);
    return pthread_kill(thread, signal == SIGSUSP ? SUSPEND : RESUME);
}

int pthread_setmode_np(int clear, int set, int *before)
{
    if (own == NULL || before != NULL) {
        return EPERM;
    }
    own->warns = (set & PTHREAD_WARNSW) != 0 || (own->warns && (clear & PTHREAD_WARNSW) == 0);
    cobalt_thread_harden();
    return 0;
}

pid_t cobalt_thread_pid(pthread_t thread)
{
    const struct shadow *const other = find(thread);
    return other != NULL ? atomic_load(&other->number) : -ESRCH;
}

/* Linux has counted all that they do here, so primary mode has none of it but of the caller. */
int cobalt_thread_stat(pid_t pid, struct cobalt_threadstat *stat)
{
    struct timespec used;
    memset(stat, 0, sizeof *stat);
    if (pid != 0) {
        return 0;
    }
    if (own == NULL || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) {
        return -ESRCH;
    }
    stat->xtime = (unsigned long long)used.tv_sec * 1000000000ULL + (unsigned long long)used.tv_nsec;
    stat->msw = atomic_load(&own->switches);
    return 0;
}

/* ---- What is wrapped: Cobalt's threads only, and in primary mode ---- */

#define IN_PRIMARY_MODE(CALL, OTHERWISE) \
    do { \
        if (own == NULL) { \
            OTHERWISE; \
        } \
        cobalt_thread_harden(); \
        inside++; \
        const __typeof__(CALL) result = CALL; \
        inside--; \
        return result; \
    } while (0)
#define REFUSE \
    errno = EPERM; \
    return -1

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0) {
        errno = EINVAL;
        return -1;
    }
    return clock_gettime(clock, now);
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
    IN_PRIMARY_MODE(clock_nanosleep(clock, flags, until, left), return EPERM);
}

int __wrap_nanosleep(const struct timespec *length, struct timespec *left)
{
    IN_PRIMARY_MODE(clock_nanosleep(CLOCK_MONOTONIC, 0, length, left), REFUSE);
}

int __wrap_sem_wait(sem_t *semaphore)
{
    IN_PRIMARY_MODE(sem_wait(semaphore), REFUSE);
}

int __wrap_sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    IN_PRIMARY_MODE(sem_timedwait(semaphore, until), REFUSE);
}

int __wrap_sem_post(sem_t *semaphore)
{
    return sem_post(semaphore);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    IN_PRIMARY_MODE(pthread_mutex_lock(mutex), return EPERM);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    IN_PRIMARY_MODE(pthread_mutex_unlock(mutex), return EPERM);
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    IN_PRIMARY_MODE(pthread_cond_wait(condition, mutex), return EPERM);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    IN_PRIMARY_MODE(pthread_cond_signal(condition), return EPERM);
}

int __wrap_mq_send(mqd_t queue, const char *data, size_t bytes, unsigned priority)
{
    IN_PRIMARY_MODE(mq_send(queue, data, bytes, priority), REFUSE);
}

ssize_t __wrap_mq_receive(mqd_t queue, char *data, size_t bytes, unsigned *priority)
{
    IN_PRIMARY_MODE(mq_receive(queue, data, bytes, priority), REFUSE);
}

int __wrap_sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    IN_PRIMARY_MODE(sigwaitinfo(set, info), REFUSE);
}

/* A file that is no timer of Cobalt's is Linux's. */
static atomic_bool timers[FILES];

static bool is_timer(int file)
{
    return file >= 0 && file < FILES && atomic_load(&timers[file]);
}

int __wrap_timerfd_create(int clock, int flags)
{
    const int file = timerfd_create(clock, flags);
    if (file >= FILES) {
        die("no more files");
    }
    if (file >= 0) {
        atomic_store(&timers[file], true);
    }
    return file;
}

int __wrap_timerfd_settime(int file, int flags, const struct itimerspec *times, struct itimerspec *before)
{
    IN_PRIMARY_MODE(timerfd_settime(file, flags, times, before), REFUSE);
}

ssize_t __wrap_read(int file, void *data, size_t bytes)
{
    if (!is_timer(file)) {
        return read(file, data, bytes);
    }
    IN_PRIMARY_MODE(read(file, data, bytes), REFUSE);
}

int __wrap_close(int file)
{
    if (is_timer(file)) {
        atomic_store(&timers[file], false);
    }
    return close(file);
}

/* ---- What is Linux's alone: it takes the caller out of primary mode ---- */

OF_LINUX_ALONE
