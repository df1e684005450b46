/*
 * A stand-in for the calls of VxWorks that the port makes, for tests, over POSIX: waits in ticks of 10 ms, suspension by
 * signals. It has no priorities and says nothing of times: what it shows is the logic of the port.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <mqueue.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <condVarLib.h>
#include <msgQLib.h>
#include <objLib.h>
#include <sysLib.h>
#include <taskLib.h>
#include <vxCpuLib.h>

#include "../support/hold.h"
#include "../support/own_threads.h"

enum { TICKS_PER_S = 100, NS_PER_S = 1000000000 };

/* ---- The system and its tasks ---- */

int uname(struct utsname *found)
{
    memset(found, 0, sizeof *found);
    strcpy(found->sysname, "VxWorks");
    strcpy(found->release, "stand-in");
    return 0;
}

int sysClkRateGet(void)
{
    return TICKS_PER_S;
}

unsigned vxCpuConfiguredGet(void)
{
    return (unsigned)sysconf(_SC_NPROCESSORS_CONF);
}

TASK_ID taskIdSelf(void)
{
    return (TASK_ID)pthread_self();
}

static STATUS order(TASK_ID task, int (*act)(struct hold *))
{
    struct hold *const other = hold_of((pthread_t)task);
    return other != NULL && act(other) == 0 ? OK : ERROR;
}

STATUS taskSuspend(TASK_ID task)
{
    return order(task, hold_suspend);
}

STATUS taskResume(TASK_ID task)
{
    return order(task, hold_resume);
}

STATUS taskCpuAffinitySet(TASK_ID task, cpuset_t wanted)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (size_t cpu = 0; cpu < 32; cpu++) {
        if ((wanted & (1U << cpu)) != 0) {
            CPU_SET(cpu, &cpus);
        }
    }
    return task == 0 && sched_setaffinity(0, sizeof cpus, &cpus) == 0 ? OK : ERROR;
}

STATUS taskCpuAffinityGet(TASK_ID task, cpuset_t *found)
{
    cpu_set_t cpus;
    if (task != 0 || sched_getaffinity(0, sizeof cpus, &cpus) != 0) {
        return ERROR;
    }
    *found = 0;
    for (size_t cpu = 0; cpu < 32; cpu++) {
        *found |= CPU_ISSET(cpu, &cpus) ? 1U << cpu : 0;
    }
    return OK;
}

/* ---- Semaphores: of two kinds ---- */

struct semaphore {
    pthread_mutex_t mutex;
    sem_t count;
    bool is_mutex;
};

SEM_ID semMCreate(int options)
{
    SEM_ID const made = (options & SEM_Q_PRIORITY) != 0 ? calloc(1, sizeof *made) : NULL;
    if (made != NULL) {
        made->is_mutex = true;
        pthread_mutex_init(&made->mutex, NULL);
    }
    return made;
}

SEM_ID semCCreate(int options, int initial)
{
    SEM_ID const made = (options & SEM_INVERSION_SAFE) == 0 ? calloc(1, sizeof *made) : NULL;
    if (made != NULL) {
        sem_init(&made->count, 0, (unsigned)initial);
    }
    return made;
}

STATUS semTake(SEM_ID sem, _Vx_ticks_t ticks)
{
    struct timespec end;
    if (sem->is_mutex) {
        return ticks == WAIT_FOREVER && pthread_mutex_lock(&sem->mutex) == 0 ? OK : ERROR;
    }
    if (ticks == WAIT_FOREVER) {
        return sem_wait(&sem->count) == 0 ? OK : ERROR;
    }
    clock_gettime(CLOCK_REALTIME, &end);
    const long long wait_ns = end.tv_nsec + (long long)ticks * (NS_PER_S / TICKS_PER_S);
    end.tv_sec += (time_t)(wait_ns / NS_PER_S);
    end.tv_nsec = (long)(wait_ns % NS_PER_S);
    if (sem_timedwait(&sem->count, &end) == 0) {
        return OK;
    }
    errno = errno == ETIMEDOUT ? S_objLib_OBJ_TIMEOUT : errno;
    return ERROR;
}

STATUS semGive(SEM_ID sem)
{
    return (sem->is_mutex ? pthread_mutex_unlock(&sem->mutex) : sem_post(&sem->count)) == 0 ? OK : ERROR;
}

STATUS semDelete(SEM_ID sem)
{
    free(sem);
    return OK;
}

/* ---- Conditions ---- */

struct condition {
    pthread_cond_t native;
};

CONDVAR_ID condVarCreate(int options)
{
    CONDVAR_ID const made = options == CONDVAR_Q_PRIORITY ? calloc(1, sizeof *made) : NULL;
    if (made != NULL) {
        pthread_cond_init(&made->native, NULL);
    }
    return made;
}

STATUS condVarSignal(CONDVAR_ID condition)
{
    return pthread_cond_signal(&condition->native) == 0 ? OK : ERROR;
}

STATUS condVarWait(CONDVAR_ID condition, SEM_ID mutex, _Vx_ticks_t ticks)
{
    return mutex->is_mutex && ticks == WAIT_FOREVER && pthread_cond_wait(&condition->native, &mutex->mutex) == 0 ? OK : ERROR;
}

STATUS condVarDelete(CONDVAR_ID condition)
{
    free(condition);
    return OK;
}

/* ---- Queues ---- */

struct queue {
    mqd_t native;
};

MSG_Q_ID msgQCreate(size_t messages, size_t bytes, int options)
{
    static atomic_uint serial;
    char name[64];
    struct mq_attr attributes = {.mq_maxmsg = (long)messages, .mq_msgsize = (long)bytes};
    snprintf(name, sizeof name, "/stand-in-%d-%u", (int)getpid(), atomic_fetch_add(&serial, 1));
    MSG_Q_ID const made = (options & MSG_Q_PRIORITY) != 0 ? calloc(1, sizeof *made) : NULL;
    if (made != NULL) {
        made->native = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
        mq_unlink(name);
    }
    return made;
}

STATUS msgQSend(MSG_Q_ID queue, char *data, size_t bytes, _Vx_ticks_t ticks, int priority)
{
    return ticks == WAIT_FOREVER && mq_send(queue->native, data, bytes, (unsigned)priority) == 0 ? OK : ERROR;
}

ssize_t msgQReceive(MSG_Q_ID queue, char *data, size_t bytes, _Vx_ticks_t ticks)
{
    return ticks == WAIT_FOREVER ? mq_receive(queue->native, data, bytes, NULL) : ERROR;
}

STATUS msgQDelete(MSG_Q_ID queue)
{
    mq_close(queue->native);
    free(queue);
    return OK;
}
