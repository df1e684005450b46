/*
 * A stand-in for libevl and for the core behind it, for tests: threads that attach themselves, on one of two stages. EVL's
 * calls are for them alone and run out of band; who makes one of Linux's that are listed below is switched in band, is
 * counted, and told by SIGDEBUG if it asked for that. It keeps no time of its own and has no priorities: what it shows is the
 * logic of the port, and that no measuring thread is switched in band.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../support/of_linux.h"

#include <evl/evl.h>

enum { THREADS = 512, FIRST_ELEMENT = 5000, UNBLOCK = 40, A_WHILE_NS = 20000000 };

struct thread {
    pthread_t handle;
    atomic_int taken;
    atomic_bool out_of_band;
    atomic_bool unblocked;
    bool warns;
    atomic_uint switches;
};

static struct thread threads[THREADS];
static _Thread_local struct thread *own;
static _Thread_local int inside; /* a call of ours that may use Linux's */
static bool absent;

static void leave(void)
{
    if (own == NULL || inside > 0 || !atomic_exchange(&own->out_of_band, false)) {
        return;
    }
    atomic_fetch_add(&own->switches, 1);
    if (own->warns) {
        const union sigval value = {.sival_int = (int)(sigdebug_marker | EVL_HMDIAG_SYSDEMOTE)};
        inside++;
        pthread_sigqueue(pthread_self(), SIGDEBUG, value);
        inside--;
    }
}

/* ---- The core, and its threads ---- */

int evl_init(void)
{
    absent = getenv("STAND_IN_WITHOUT_CORE") != NULL;
    return absent ? -ENXIO : 0;
}

struct evl_version evl_get_version(void)
{
    return (struct evl_version){.api_level = 30, .abi_level = 33, .version_string = "stand-in"};
}

static void on_unblock(int signal)
{
    (void)signal;
}

int evl_attach_thread(int flags, const char *format, ...)
{
    const struct sigaction action = {.sa_handler = on_unblock};
    sigset_t taken;
    (void)flags;
    (void)format;
    if (own != NULL) {
        return -EBUSY;
    }
    for (size_t i = 0; i < THREADS; i++) {
        int none = 0;
        if (atomic_compare_exchange_strong(&threads[i].taken, &none, 1)) {
            own = &threads[i];
            own->handle = pthread_self();
            own->warns = false;
            atomic_store(&own->switches, 0);
            atomic_store(&own->unblocked, false);
            atomic_store(&own->out_of_band, true);
            inside++;
            sigaction(UNBLOCK, &action, NULL);
            sigemptyset(&taken);
            sigaddset(&taken, UNBLOCK);
            pthread_sigmask(SIG_UNBLOCK, &taken, NULL);
            inside--;
            return FIRST_ELEMENT + (int)i;
        }
    }
    return -ENOMEM;
}

int evl_detach_self(void)
{
    if (own == NULL) {
        return -EPERM;
    }
    struct thread *const ended = own;
    own = NULL;
    atomic_store(&ended->taken, 0);
    return 0;
}

int evl_get_self(void)
{
    return own != NULL ? FIRST_ELEMENT + (int)(own - threads) : -EPERM;
}

static struct thread *of_element(int element)
{
    const int index = element - FIRST_ELEMENT;
    return index >= 0 && index < THREADS && atomic_load(&threads[index].taken) != 0 ? &threads[index] : NULL;
}

bool evl_is_inband(void)
{
    return own == NULL || !atomic_load(&own->out_of_band);
}

int evl_switch_oob(void)
{
    if (own == NULL) {
        return -EPERM;
    }
    atomic_store(&own->out_of_band, true);
    return 0;
}

int evl_switch_inband(void)
{
    leave();
    return own != NULL ? 0 : -EPERM;
}

/* Linux has counted all that they do here, so out of band there is none of it but of the caller. */
int evl_get_state(int element, struct evl_thread_state *state)
{
    struct timespec used;
    const struct thread *const thread = of_element(element);
    memset(state, 0, sizeof *state);
    if (thread == NULL) {
        return -EBADF;
    }
    state->isw = atomic_load(&thread->switches);
    if (thread == own && clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0) {
        state->xtime = (uint64_t)used.tv_sec * 1000000000U + (uint64_t)used.tv_nsec;
    }
    return 0;
}

int evl_unblock_thread(int element)
{
    struct thread *const thread = of_element(element);
    if (thread == NULL) {
        return -EBADF;
    }
    atomic_store(&thread->unblocked, true);
    return -pthread_kill(thread->handle, UNBLOCK);
}

int evl_set_thread_mode(int element, int mask, int *before)
{
    if (own == NULL || of_element(element) != own || before != NULL) {
        return -EPERM;
    }
    own->warns = own->warns || (mask & EVL_T_WOSS) != 0;
    return evl_switch_oob();
}

int evl_set_schedattr(int element, const struct evl_sched_attrs *wanted)
{
    return of_element(element) == NULL ? -EBADF : wanted->sched_priority < 0 || wanted->sched_priority > 99 ? -EINVAL : 0;
}

#define OUT_OF_BAND(CALL) \
    do { \
        if (own == NULL) { \
            return -EPERM; \
        } \
        atomic_store(&own->out_of_band, true); \
        inside++; \
        const int result = CALL; \
        inside--; \
        return -result; \
    } while (0)

int evl_yield(void)
{
    OUT_OF_BAND(sched_yield());
}

int evl_read_clock(int clock, struct timespec *now)
{
    return clock_gettime(-clock, now) == 0 ? 0 : -errno;
}

int evl_sleep_until(int clock, const struct timespec *until)
{
    OUT_OF_BAND(clock_nanosleep(-clock, TIMER_ABSTIME, until, NULL));
}

/* ---- Its elements ---- */

int evl_create_mutex(struct evl_mutex *mutex, int clock, unsigned ceiling, int flags, const char *format, ...)
{
    (void)clock;
    (void)flags;
    (void)format;
    return absent || ceiling > 99 ? -EINVAL : -pthread_mutex_init(&mutex->native, NULL);
}

int evl_lock_mutex(struct evl_mutex *mutex)
{
    OUT_OF_BAND(pthread_mutex_lock(&mutex->native));
}

int evl_unlock_mutex(struct evl_mutex *mutex)
{
    OUT_OF_BAND(pthread_mutex_unlock(&mutex->native));
}

int evl_close_mutex(struct evl_mutex *mutex)
{
    return -pthread_mutex_destroy(&mutex->native);
}

static int make_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    const int error = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return -error;
}

int evl_create_sem(struct evl_sem *sem, int clock, int value, int flags, const char *format, ...)
{
    (void)clock;
    (void)flags;
    (void)format;
    sem->value = value;
    pthread_mutex_init(&sem->mutex, NULL);
    return make_condition(&sem->posted);
}

/* In steps, since a signal does not end the wait for a condition. */
static int get(struct evl_sem *sem, const struct timespec *until)
{
    int error = 0;
    atomic_store(&own->unblocked, false);
    pthread_mutex_lock(&sem->mutex);
    while (sem->value == 0 && error == 0) {
        struct timespec step;
        clock_gettime(CLOCK_MONOTONIC, &step);
        if (until != NULL &&
            (step.tv_sec > until->tv_sec || (step.tv_sec == until->tv_sec && step.tv_nsec >= until->tv_nsec))) {
            error = ETIMEDOUT;
            break;
        }
        step.tv_nsec += A_WHILE_NS;
        step.tv_sec += step.tv_nsec / 1000000000;
        step.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&sem->posted, &sem->mutex, &step);
        error = sem->value == 0 && atomic_load(&own->unblocked) ? EINTR : 0;
    }
    sem->value -= error == 0 ? 1 : 0;
    pthread_mutex_unlock(&sem->mutex);
    return error;
}

int evl_get_sem(struct evl_sem *sem)
{
    OUT_OF_BAND(get(sem, NULL));
}

int evl_timedget_sem(struct evl_sem *sem, const struct timespec *until)
{
    OUT_OF_BAND(get(sem, until));
}

/* From either stage. */
int evl_put_sem(struct evl_sem *sem)
{
    pthread_mutex_lock(&sem->mutex);
    sem->value++;
    pthread_cond_signal(&sem->posted);
    pthread_mutex_unlock(&sem->mutex);
    return 0;
}

int evl_close_sem(struct evl_sem *sem)
{
    pthread_cond_destroy(&sem->posted);
    return -pthread_mutex_destroy(&sem->mutex);
}

int evl_create_event(struct evl_event *event, int clock, int flags, const char *format, ...)
{
    (void)clock;
    (void)flags;
    (void)format;
    return make_condition(&event->native);
}

int evl_wait_event(struct evl_event *event, struct evl_mutex *mutex)
{
    OUT_OF_BAND(pthread_cond_wait(&event->native, &mutex->native));
}

int evl_signal_event(struct evl_event *event)
{
    OUT_OF_BAND(pthread_cond_signal(&event->native));
}

int evl_broadcast_event(struct evl_event *event)
{
    OUT_OF_BAND(pthread_cond_broadcast(&event->native));
}

int evl_close_event(struct evl_event *event)
{
    return -pthread_cond_destroy(&event->native);
}

/* The core would write for the caller, later and in band. */
int evl_create_proxy(int target, size_t bytes, size_t granularity, int flags, const char *format, ...)
{
    (void)flags;
    (void)format;
    return granularity == 0 || bytes % granularity != 0 ? -EINVAL : dup(target);
}

ssize_t oob_write(int element, const void *data, size_t bytes)
{
    if (own == NULL) {
        errno = EPERM;
        return -1;
    }
    atomic_store(&own->out_of_band, true);
    inside++;
    const ssize_t written = write(element, data, bytes);
    inside--;
    return written;
}

int evl_new_timer(int clock)
{
    return timerfd_create(-clock, TFD_CLOEXEC);
}

int evl_set_timer(int element, const struct itimerspec *value, struct itimerspec *before)
{
    return timerfd_settime(element, TFD_TIMER_ABSTIME, value, before) == 0 ? 0 : -errno;
}

ssize_t oob_read(int element, void *data, size_t bytes)
{
    if (own == NULL) {
        errno = EPERM;
        return -1;
    }
    atomic_store(&own->out_of_band, true);
    inside++;
    const ssize_t got = read(element, data, bytes);
    inside--;
    return got;
}

/* ---- What is Linux's alone: it switches the caller in band ---- */

OF_LINUX_ALONE
OF_LINUX_WRAPPED
