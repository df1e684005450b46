/* A stand-in for Xenomai's header, for tests: what the port needs of it. */
#ifndef STAND_IN_SYS_COBALT_H
#define STAND_IN_SYS_COBALT_H

#include <pthread.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>

struct cobalt_threadstat {
    int cpu;
    unsigned long status;
    unsigned long long xtime;
    unsigned long msw;
    unsigned long csw;
    unsigned long xsc;
    unsigned long pf;
    unsigned long long timeout;
};

int cobalt_thread_stat(pid_t pid, struct cobalt_threadstat *stat);
pid_t cobalt_thread_pid(pthread_t thread);
void cobalt_thread_harden(void);

#endif
