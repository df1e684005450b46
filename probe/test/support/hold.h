/* For stand-ins of systems that suspend and resume another thread: by two signals that nobody else here uses. */
#ifndef STAND_IN_HOLD_H
#define STAND_IN_HOLD_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { HOLD_THREADS = 512, HOLD_SUSPEND = 41, HOLD_RESUME = 42 };

struct hold {
    pthread_t handle;
    atomic_int taken;
    atomic_bool held;
};

static struct hold holds[HOLD_THREADS];
static _Thread_local struct hold *hold_own;

static void hold_on_resume(int signal)
{
    (void)signal;
}

static void hold_on_suspend(int signal)
{
    sigset_t others;
    (void)signal;
    sigfillset(&others);
    sigdelset(&others, HOLD_RESUME);
    while (hold_own != NULL && atomic_load(&hold_own->held)) {
        sigsuspend(&others);
    }
}

/* The calling thread can be suspended from now on. */
static struct hold *hold_begin(void)
{
    struct sigaction action = {.sa_handler = hold_on_suspend, .sa_flags = SA_RESTART};
    sigset_t ours;
    sigaction(HOLD_SUSPEND, &action, NULL);
    action.sa_handler = hold_on_resume;
    sigaction(HOLD_RESUME, &action, NULL);
    for (size_t i = 0; i < HOLD_THREADS && hold_own == NULL; i++) {
        int none = 0;
        if (atomic_compare_exchange_strong(&holds[i].taken, &none, -1)) {
            holds[i].handle = pthread_self();
            atomic_store(&holds[i].held, false);
            hold_own = &holds[i];
            atomic_store(&holds[i].taken, 1);
        }
    }
    sigemptyset(&ours);
    sigaddset(&ours, HOLD_RESUME);
    pthread_sigmask(SIG_BLOCK, &ours, NULL);
    sigemptyset(&ours);
    sigaddset(&ours, HOLD_SUSPEND);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    return hold_own;
}

static void hold_end(void)
{
    if (hold_own != NULL) {
        struct hold *const ended = hold_own;
        hold_own = NULL;
        atomic_store(&ended->taken, 0);
    }
}

static inline struct hold *hold_of(pthread_t handle)
{
    for (size_t i = 0; i < HOLD_THREADS; i++) {
        if (atomic_load(&holds[i].taken) == 1 && pthread_equal(holds[i].handle, handle)) {
            return &holds[i];
        }
    }
    return NULL;
}

static int hold_suspend(struct hold *hold)
{
    atomic_store(&hold->held, true);
    return pthread_kill(hold->handle, HOLD_SUSPEND);
}

static int hold_resume(struct hold *hold)
{
    return atomic_exchange(&hold->held, false) ? pthread_kill(hold->handle, HOLD_RESUME) : 0;
}

#endif
