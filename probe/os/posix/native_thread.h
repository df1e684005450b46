/* A thread by the system's own calls; a port with a real-time domain beside Linux has its own file of these. */
#ifndef TAUTO_POSIX_NATIVE_THREAD_H
#define TAUTO_POSIX_NATIVE_THREAD_H

#include "os/os.h"

#include <pthread.h>

struct native_thread {
    pthread_t handle;
    intptr_t element; /* of the real-time domain, where that has numbers or addresses of its own; -1: none */
};

/* As pthread_create(3): a thread of the real-time domain where there is one and `is_realtime` says so. */
int native_create(struct native_thread *thread, const pthread_attr_t *attributes, bool is_realtime, void *(*start)(void *),
                  void *argument);
/* In the new thread, which has its policy, priority and CPU already: it joins the domain. */
enum os_status native_join_domain(struct native_thread *thread, const struct os_thread_attributes *attributes);
/* In the thread, at its end. */
void native_leave_domain(struct native_thread *thread);

/* Ends its sleep, if it sleeps. */
enum os_status native_interrupt(const struct native_thread *thread);
/* What suspend and resume know the calling thread by (posix/suspend.c); -1: nothing. */
intptr_t native_self(void);
enum os_status native_suspend(const struct native_thread *thread);
enum os_status native_resume(const struct native_thread *thread);
/* INT64_MIN where that can't be told. */
int64_t native_cpu_time_ns(const struct native_thread *thread);

#endif
