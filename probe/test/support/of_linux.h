/* For stand-ins: a call of Linux's, before which `leave` learns who makes it. */
#ifndef STAND_IN_OF_LINUX_H
#define STAND_IN_OF_LINUX_H

#include <dlfcn.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define OF_LINUX(TYPE, NAME, PARAMETERS, ARGUMENTS) \
    TYPE NAME PARAMETERS \
    { \
        static _Atomic(void *) next; \
        void *real = atomic_load(&next); \
        if (real == NULL) { \
            real = dlsym(RTLD_NEXT, #NAME); \
            atomic_store(&next, real); \
        } \
        leave(); \
        return ((TYPE(*) PARAMETERS)real)ARGUMENTS; \
    }

/* What no core beside Linux has. */
#define OF_LINUX_ALONE \
    OF_LINUX(int, nanosleep, (const struct timespec *length, struct timespec *left), (length, left)) \
    OF_LINUX(ssize_t, read, (int file, void *data, size_t bytes), (file, data, bytes)) \
    OF_LINUX(ssize_t, write, (int file, const void *data, size_t bytes), (file, data, bytes)) \
    OF_LINUX(int, poll, (struct pollfd *files, nfds_t count, int timeout), (files, count, timeout)) \
    OF_LINUX(int, close, (int file), (file)) \
    OF_LINUX(int, pthread_rwlock_rdlock, (pthread_rwlock_t *lock), (lock)) \
    OF_LINUX(int, pthread_rwlock_wrlock, (pthread_rwlock_t *lock), (lock)) \
    OF_LINUX(int, getrusage, (__rusage_who_t who, struct rusage *usage), (who, usage)) \
    OF_LINUX(int, sched_setaffinity, (pid_t thread, size_t bytes, const cpu_set_t *cpus), (thread, bytes, cpus))

/* And what Cobalt wraps, but nobody else. */
#define OF_LINUX_WRAPPED \
    OF_LINUX(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *until, struct timespec *left), \
             (clock, flags, until, left)) \
    OF_LINUX(int, sem_wait, (sem_t *semaphore), (semaphore)) \
    OF_LINUX(int, mq_send, (mqd_t queue, const char *data, size_t bytes, unsigned priority), (queue, data, bytes, priority)) \
    OF_LINUX(int, sched_yield, (void), ())

#endif
