/*
 * A stand-in for RTAI's LXRT and for the core behind it, for tests: tasks, hard or soft, that wait by calls of RTAI's. A hard
 * task that makes one of Linux's calls that are listed below ends the program, for RTAI would make it soft and tell nobody. It
 * keeps no time of its own and has no priorities: what it shows is the logic of the port.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <rtai_mbx.h>

#include "../support/hold.h"
#include "../support/of_linux.h"

enum { UNBLOCK = 40, A_WHILE_NS = 20000000, NS_PER_S = 1000000000 };

struct rt_task_struct {
    struct hold *hold;
    bool hard;
    atomic_bool unblocked;
};

struct rt_semaphore {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int value;
    unsigned arrived; /* of a condition: whoever came first goes first */
    unsigned served;
    int type;
};

struct rt_mailbox {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int size;
    int used;
    char data[];
};

static _Thread_local RT_TASK *own;
static _Thread_local int inside; /* a call of ours that may use Linux's */

static void die(const char *why)
{
    inside++;
    fprintf(stderr, "stand-in: %s\n", why);
    abort();
}

static void leave(void)
{
    if (own != NULL && own->hard && inside == 0) {
        die("a hard task made a call of Linux's");
    }
}

/* ---- Tasks ---- */

unsigned long rt_get_name(void *object)
{
    static atomic_ulong last = 1;
    return object == NULL ? atomic_fetch_add(&last, 1) : 0;
}

static void on_unblock(int signal)
{
    (void)signal;
}

RT_TASK *rt_task_init_schmod(unsigned long name, int priority, int stack_size, int max_msg_size, int policy, int cpus_allowed)
{
    const struct sigaction action = {.sa_handler = on_unblock};
    sigset_t taken;
    if (name == 0 || priority < 0 || stack_size != 0 || max_msg_size != 0 || policy < 0 || cpus_allowed == 0 || own != NULL) {
        return NULL;
    }
    own = calloc(1, sizeof *own);
    own->hold = hold_begin();
    sigaction(UNBLOCK, &action, NULL);
    sigemptyset(&taken);
    sigaddset(&taken, UNBLOCK);
    pthread_sigmask(SIG_UNBLOCK, &taken, NULL);
    return own;
}

/* Its memory stays: others may still unblock it. */
int rt_task_delete(RT_TASK *task)
{
    if (task != own) {
        die("a task deleted another");
    }
    hold_end();
    own = NULL;
    return 0;
}

void rt_make_hard_real_time(void)
{
    if (own == NULL) {
        die("a thread that is no task made itself hard");
    }
    own->hard = true;
}

void rt_make_soft_real_time(void)
{
    if (own != NULL) {
        own->hard = false;
    }
}

int rt_task_suspend(RT_TASK *task)
{
    return -hold_suspend(task->hold);
}

int rt_task_resume(RT_TASK *task)
{
    return -hold_resume(task->hold);
}

int rt_get_task_state(RT_TASK *task)
{
    return RT_SCHED_READY | (atomic_load(&task->hold->held) ? RT_SCHED_SUSPENDED : 0);
}

int rt_task_masked_unblock(RT_TASK *task, unsigned long mask)
{
    atomic_store(&task->unblocked, (mask & RT_SCHED_READY) == 0);
    return -pthread_kill(task->hold->handle, UNBLOCK);
}

void rt_task_yield(void)
{
    inside++;
    sched_yield();
    inside--;
}

/* ---- Time: in counts of 10 ns, so that nobody takes the one for the other ---- */

static bool running;

int rt_is_hard_timer_running(void)
{
    return running;
}

void rt_set_oneshot_mode(void)
{
}

RTIME start_rt_timer(int period)
{
    running = true;
    return period;
}

void stop_rt_timer(void)
{
    running = false;
}

RTIME rt_get_time_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (RTIME)now.tv_sec * NS_PER_S + now.tv_nsec;
}

RTIME nano2count(RTIME ns)
{
    return (ns + 9) / 10;
}

int rt_sleep_until(RTIME time)
{
    const struct timespec until = {.tv_sec = (time_t)(time * 10 / NS_PER_S), .tv_nsec = (long)(time * 10 % NS_PER_S)};
    if (!running || own == NULL) {
        die("a sleep without the timer, or of no task");
    }
    inside++;
    const int error = time > 0 ? clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) : 0;
    inside--;
    return error == EINTR ? RTE_UNBLKD : 0;
}

/* ---- Semaphores and conditions ---- */

static void make_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

SEM *rt_typed_sem_init(unsigned long name, int value, int type)
{
    SEM *const made = name != 0 ? calloc(1, sizeof *made) : NULL;
    if (made != NULL) {
        pthread_mutex_init(&made->mutex, NULL);
        make_condition(&made->changed);
        made->value = value;
        made->type = type;
    }
    return made;
}

int rt_sem_delete(SEM *sem)
{
    pthread_cond_destroy(&sem->changed);
    pthread_mutex_destroy(&sem->mutex);
    free(sem);
    return 0;
}

int rt_sem_signal(SEM *sem)
{
    pthread_mutex_lock(&sem->mutex);
    sem->value = sem->type == CNT_SEM ? sem->value + 1 : 1;
    pthread_cond_signal(&sem->changed);
    pthread_mutex_unlock(&sem->mutex);
    return 0;
}

/* With the mutex. In steps, since a signal does not end the wait for a condition. */
static int wait_for_change(pthread_cond_t *changed, pthread_mutex_t *mutex, RTIME until_ns)
{
    const RTIME now = rt_get_time_ns();
    const RTIME step = until_ns >= 0 && until_ns - now < A_WHILE_NS ? until_ns : now + A_WHILE_NS;
    const struct timespec end = {.tv_sec = (time_t)(step / NS_PER_S), .tv_nsec = (long)(step % NS_PER_S)};
    if (until_ns >= 0 && now >= until_ns) {
        return RTE_TIMOUT;
    }
    (void)pthread_cond_timedwait(changed, mutex, &end);
    return atomic_exchange(&own->unblocked, false) ? RTE_UNBLKD : 0;
}

static int take(SEM *sem, RTIME until_ns)
{
    int error = 0;
    if (own == NULL) {
        die("a thread that is no task waited");
    }
    atomic_store(&own->unblocked, false);
    pthread_mutex_lock(&sem->mutex);
    while (sem->value == 0 && error == 0) {
        error = wait_for_change(&sem->changed, &sem->mutex, until_ns);
    }
    error = sem->value > 0 ? 0 : error;
    sem->value -= error == 0 ? 1 : 0;
    pthread_mutex_unlock(&sem->mutex);
    return error != 0 ? error : sem->value;
}

int rt_sem_wait(SEM *sem)
{
    return take(sem, -1);
}

int rt_sem_wait_until(SEM *sem, RTIME time)
{
    return take(sem, time * 10);
}

int rt_cond_signal(CND *cnd)
{
    pthread_mutex_lock(&cnd->mutex);
    cnd->served += cnd->served != cnd->arrived ? 1 : 0;
    pthread_cond_broadcast(&cnd->changed);
    pthread_mutex_unlock(&cnd->mutex);
    return 0;
}

int rt_cond_wait(CND *cnd, SEM *mutex)
{
    int error = 0;
    atomic_store(&own->unblocked, false);
    pthread_mutex_lock(&cnd->mutex);
    const unsigned ticket = cnd->arrived++;
    rt_sem_signal(mutex);
    while ((int)(cnd->served - ticket) <= 0 && error == 0) {
        error = wait_for_change(&cnd->changed, &cnd->mutex, -1);
    }
    pthread_mutex_unlock(&cnd->mutex);
    const int taken = take(mutex, -1);
    return error != 0 ? error : taken;
}

/* ---- Mailboxes: a stream of bytes ---- */

MBX *rt_typed_mbx_init(unsigned long name, int size, int qtype)
{
    MBX *const made = name != 0 && size > 0 && qtype == PRIO_Q ? calloc(1, sizeof *made + (size_t)size) : NULL;
    if (made != NULL) {
        pthread_mutex_init(&made->mutex, NULL);
        make_condition(&made->changed);
        made->size = size;
    }
    return made;
}

int rt_mbx_delete(MBX *mbx)
{
    pthread_cond_destroy(&mbx->changed);
    pthread_mutex_destroy(&mbx->mutex);
    free(mbx);
    return 0;
}

/* What was not sent or received. */
static int pass(MBX *mbx, void *msg, int msg_size, bool sends)
{
    int error = 0;
    atomic_store(&own->unblocked, false);
    pthread_mutex_lock(&mbx->mutex);
    while ((sends ? mbx->size - mbx->used : mbx->used) < msg_size && error == 0) {
        error = wait_for_change(&mbx->changed, &mbx->mutex, -1);
    }
    if (error == 0 && sends) {
        memcpy(mbx->data + mbx->used, msg, (size_t)msg_size);
        mbx->used += msg_size;
    } else if (error == 0) {
        memcpy(msg, mbx->data, (size_t)msg_size);
        mbx->used -= msg_size;
        memmove(mbx->data, mbx->data + msg_size, (size_t)mbx->used);
    }
    pthread_cond_broadcast(&mbx->changed);
    pthread_mutex_unlock(&mbx->mutex);
    return error != 0 ? msg_size : 0;
}

int rt_mbx_send(MBX *mbx, void *msg, int msg_size)
{
    return pass(mbx, msg, msg_size, true);
}

int rt_mbx_receive(MBX *mbx, void *msg, int msg_size)
{
    return pass(mbx, msg, msg_size, false);
}

/* ---- What is Linux's alone ---- */

OF_LINUX_ALONE
OF_LINUX_WRAPPED
